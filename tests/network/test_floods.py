"""Many names, many connections, slow and half-closed ones: the guest harms only itself."""

from __future__ import annotations

import pytest

from tests.network.conftest import Internet
from tests.network.internet import PUBLIC, REACHED
from tests.network.test_bypasses import API, PRELUDE

TEXT = f"{API}:9999"


def test_five_hundred_connections_at_once(internet: Internet) -> None:
    code = (
        "where = socket.gethostbyname('api.example.com')\n"
        "all = [socket.create_connection((where, 9999), 20) for _ in range(500)]\n"
        "for i, one in enumerate(all): one.sendall(b'%d\\n' % i)\n"
        "files = [one.makefile() for one in all]\n"
        "lines = [(file.readline(), file.readline())[1] for file in files]\n"
        "print('answered', sum(line == f'{i}\\n' for i, line in enumerate(lines)))"
    )
    done = internet.guest(PRELUDE + code, TEXT, options=("--files", "1000"), timeout_s=60)
    assert done.document["stdout"] == "answered 500\n", done.document["stderr"]
    assert len(done.document["connections"]) == 500


def test_connections_beyond_the_limit_are_refused_and_reported(internet: Internet) -> None:
    code = (
        "where = socket.gethostbyname('api.example.com')\n"
        "all = [socket.create_connection((where, 9999), 20) for _ in range(540)]\n"
        "time.sleep(1)\nprint('fine')"
    )
    done = internet.guest(PRELUDE + code, TEXT, options=("--files", "1000"), timeout_s=60)
    reasons = [r["reason"] for r in done.document["refusals"] if r["kind"] == "network"]
    assert reasons == ["more than 512 connections at once"]


def test_a_half_closed_connection_goes_on(internet: Internet) -> None:
    code = (
        "s = socket.create_connection(('api.example.com', 9999), 8)\n"
        "s.sendall(b'x' * 300000)\ns.shutdown(socket.SHUT_WR)\n"
        "n = 0\nwhile piece := s.recv(65536): n += len(piece)\nprint(n)"
    )
    done = internet.guest(PRELUDE + code, TEXT)
    assert int(done.document["stdout"]) == 300000 + len(f"220 {REACHED}\r\n")
    (connection,) = done.document["connections"]
    assert (connection["outcome"], connection["bytes_out"]) == ("closed", 300000)
    assert connection["address"] == PUBLIC


def test_a_slow_reader_holds_up_nobody(internet: Internet) -> None:
    code = (
        "slow = [socket.create_connection(('api.example.com', 80), 8) for _ in range(20)]\n"
        "for s in slow: s.sendall(request('api.example.com', '/big/20000000'))\n"
        "time.sleep(0.5)\nstarted = time.monotonic()\nget('api.example.com')\n"
        "print('quick' if time.monotonic() - started < 3 else 'late')\n"
        "n = 0\nwhile piece := slow[0].recv(1 << 20): n += len(piece)\nprint(n > 20000000)"
    )
    done = internet.guest(PRELUDE + code, API)
    out = done.document["stdout"]
    assert REACHED in out
    assert "quick" in out
    assert "True" in out


def test_whole_megabytes_arrive_as_they_were_sent(internet: Internet) -> None:
    code = (
        "import hashlib, threading\n"
        "s = socket.create_connection(('api.example.com', 9999), 8)\n"
        "greeting = s.recv(100)\ndata = os.urandom(1 << 20) * 16\n"
        "threading.Thread(target=lambda: (s.sendall(data), s.shutdown(1))).start()\n"
        "back = hashlib.sha256()\nwhile piece := s.recv(65536): back.update(piece)\n"
        "print(back.digest() == hashlib.sha256(data).digest())"
    )
    assert "True" in internet.guest(PRELUDE + code, TEXT).document["stdout"]


def test_questions_that_are_never_asked_keep_nobody_from_asking(internet: Internet) -> None:
    code = (
        "idle = [socket.create_connection(('127.0.0.1', 53), 8) for _ in range(300)]\n"
        "for one in idle[::2]: one.sendall(b'\\x01')\n"
        "get('api.example.com')"
    )
    assert REACHED in internet.guest(PRELUDE + code, API).document["stdout"]


@pytest.mark.parametrize("count", [3000, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("rule", [API, "**.example.com"])
def test_many_names_cost_no_more_than_their_time(count: int, rule: str, internet: Internet) -> None:
    code = (
        "s = socket.socket(type=socket.SOCK_DGRAM)\ns.connect(('127.0.0.1', 53))\ns.settimeout(9)\n"
        f"for i in range({count}):\n"
        "    s.send(question(f'n{i}.example.com'))\n"
        "    s.recv(512)\n"
        "get('api.example.com')"
    )
    done = internet.guest(PRELUDE + code, rule, timeout_s=300)
    document = done.document
    assert (REACHED in document["stdout"]) == (rule == API or count < 1 << 16), document["stderr"]
    assert len(document["refusals"]) < 2000
    assert not [one for one in done.seen if one[0] == "dns" and one[2] != API]


def test_connections_that_end_at_once_leave_nothing(internet: Internet) -> None:
    code = (
        "where = socket.gethostbyname('api.example.com')\n"
        "for i in range(900):\n"
        "    s = socket.socket()\n"
        "    s.connect((where, 9999))\n"
        "    if i % 2: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))\n"
        "    s.close()\n"
        "    if i % 100 == 99: time.sleep(0.2)\n"
        "print('done')"
    )
    done = internet.guest(PRELUDE + code, TEXT)
    assert done.document["stdout"] == "done\n", done.document["stderr"]
    assert len(done.document["connections"]) == 900


def limited(internet: Internet, *lines: str) -> tuple[object, ...]:
    policy = internet.directory / "limited.toml"
    rules = f'allow = ["{API}", "{TEXT}"]'
    policy.write_text("\n".join(["[network]", rules, *lines, ""]))
    return ("--policy", policy)


def reasons(document: dict[str, list[dict[str, str]]]) -> list[str]:
    return [one["reason"] for one in document["refusals"] if one["kind"] == "network"]


def test_a_policy_limits_connections(internet: Internet) -> None:
    code = (
        "where = socket.gethostbyname('api.example.com')\n"
        "all = [socket.create_connection((where, 9999), 20) for _ in range(5)]\n"
        "time.sleep(0.5)\nprint('fine')"
    )
    for line, reason in (
        ("max_connections = 3", "more than 3 connections at once"),
        ("max_per_second = 4", "more than 4 connections in a second"),
    ):
        done = internet.guest(PRELUDE + code, options=limited(internet, line))
        assert reasons(done.document) == [reason]
        refused = [one for one in done.document["connections"] if one["outcome"] == "refused"]
        assert len(refused) == (2 if "at once" in reason else 1)


def test_not_a_byte_more_goes_out_than_a_policy_lets(internet: Internet) -> None:
    code = (
        "s = [socket.create_connection(('api.example.com', 9999), 8) for _ in range(2)]\n"
        "for one in s: one.sendall(b'x' * 60000)\n"
        "time.sleep(0.5)\n"
        "for one in s:\n"
        "    n = 0\n"
        "    try:\n"
        "        one.settimeout(2)\n"
        "        while piece := one.recv(65536): n += len(piece)\n"
        "    except OSError: pass\n"
        "    print(n)"
    )
    done = internet.guest(PRELUDE + code, options=limited(internet, 'max_sent = "100000"'))
    assert reasons(done.document) == ["more than 100000 bytes sent"]
    assert sum(one["bytes_out"] for one in done.document["connections"]) <= 100000
    exact = (
        "s = socket.create_connection(('api.example.com', 9999), 8)\n"
        "s.sendall(b'x' * 100000)\ns.shutdown(socket.SHUT_WR)\n"
        "n = 0\nwhile piece := s.recv(65536): n += len(piece)\nprint(n)"
    )
    done = internet.guest(PRELUDE + exact, options=limited(internet, 'max_sent = "100000"'))
    assert reasons(done.document) == []
    assert int(done.document["stdout"]) == 100000 + len(f"220 {REACHED}\r\n")


def test_first_words_count_too(internet: Internet) -> None:
    done = internet.guest(
        PRELUDE + "get('api.example.com')", options=limited(internet, 'max_sent = "30"')
    )
    assert reasons(done.document) == ["more than 30 bytes sent"]
    assert REACHED not in done.document["stdout"]


def test_a_policy_limits_what_comes_in(internet: Internet) -> None:
    code = (
        "s = socket.create_connection(('api.example.com', 80), 8)\n"
        "s.sendall(request('api.example.com', '/big/20000000'))\n"
        "n = 0\n"
        "try:\n"
        "    while piece := s.recv(65536): n += len(piece)\n"
        "except OSError: pass\n"
        "print(n)"
    )
    done = internet.guest(PRELUDE + code, options=limited(internet, 'max_received = "1M"'))
    assert reasons(done.document) == ["more than 1048576 bytes received"]
    assert int(done.document["stdout"]) <= 1 << 20
