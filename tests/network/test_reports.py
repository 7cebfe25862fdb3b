"""What is reported of a network by name: refusals with process and remedy, and connections."""

from __future__ import annotations

from tests.command import COMMAND
from tests.network.conftest import PYTHON, Internet
from tests.network.internet import PRIVATE, PUBLIC, REACHED
from tests.network.test_bypasses import API, PRELUDE


def refusals(document: dict[str, object]) -> list[tuple[str, str, str, str | None]]:
    found: list[dict[str, object]] = document["refusals"]  # type: ignore[assignment]
    return [
        (
            str(one["action"]),
            str(one["target"]),
            str(one["reason"]),
            one["allow"]["flag"] if one["allow"] else None,  # type: ignore[index]
        )
        for one in found
        if one["kind"] == "network"
    ]


def test_each_kind_of_refusal_has_its_narrowest_rule(internet: Internet) -> None:
    cases = {
        "get('other.example.org', host='other.example.org')": (
            "resolve", "other.example.org", "no rule allows this name", "--net other.example.org"),
        "get('api.example.com', 8080)": (
            "connect", "api.example.com:8080", "no rule allows this port",
            "--net api.example.com:8080"),
        f"get({PRIVATE!r}, 8080)": (
            "connect", f"{PRIVATE}:8080", "no rule allows this address", f"--net {PRIVATE}:8080"),
        "get('2600:1::1')": (
            "connect", "[2600:1::1]:80", "no rule allows this address", "--net '[2600:1::1]:80'"),
        "get('intern.example.com', host='intern.example.com')": (
            "connect", f"intern.example.com ({PRIVATE}):80", "it is a private address",
            f"--net {PRIVATE}:80"),
        f"datagram({PUBLIC!r}, 443)": (
            "send", f"{PUBLIC}:443", "a network by name carries TCP connections, not datagrams",
            "--net host"),
    }  # fmt: skip
    for code, wanted in cases.items():
        rules = (API, "intern.example.com")
        done = internet.guest(PRELUDE + code, *rules)
        assert refusals(done.document) == [wanted], code
        (one,) = [r for r in done.document["refusals"] if r["kind"] == "network"]
        assert one["process"]["command"].startswith(PYTHON), code
        assert wanted[3] is not None
        again = internet.guest(PRELUDE + code, *rules, wanted[3].split()[1].strip("'"))
        assert refusals(again.document) == [], code
        assert again.visits, code
        policy = internet.directory / "remedy.toml"
        policy.write_text(one["allow"]["policy"])
        third = internet.guest(PRELUDE + code, *rules, options=("--policy", policy))
        if "host" not in one["allow"]["flag"]:
            assert third.visits, code


def test_where_no_rule_helps_none_is_named(internet: Internet) -> None:
    policy = internet.directory / "deny.toml"
    policy.write_text(
        '[network]\nallow = ["**.example.com"]\n'
        'deny = ["no.example.com", "api.example.com:80", "other.example.org", "10.9.8.0/24"]\n'
    )
    itself = "it is for other.example.org; connect to other.example.org itself"
    cases = {
        "secure('api.example.com', 'other.example.org')": (
            "connect", "api.example.com:443", itself),
        "get('six.example.com', host='other.example.org')": (
            "connect", "six.example.com:80", itself),
        "get('no.example.com')": ("resolve", "no.example.com", "a rule denies this name"),
        "get('other.example.org')": ("resolve", "other.example.org", "a rule denies this name"),
        "get('api.example.com')": ("connect", "api.example.com:80", "a rule denies this port"),
        f"get({PRIVATE!r})": ("connect", f"{PRIVATE}:80", "a rule denies this address"),
        "get('intern.example.com', host='intern.example.com')": (
            "connect", f"intern.example.com ({PRIVATE}):80", "a rule denies this address"),
    }  # fmt: skip
    for code, wanted in cases.items():
        done = internet.guest(PRELUDE + code, options=("--policy", policy))
        assert refusals(done.document) == [(*wanted, None)], code
        assert done.visits == [], code


def test_connections_are_listed_with_who_made_them(internet: Internet) -> None:
    code = (
        "import subprocess\nget('api.example.com')\n"
        "subprocess.run(['/usr/bin/curl', '-s', 'http://six.example.com/x'])"
    )
    done = internet.guest(PRELUDE + code, API, "six.example.com")
    first, second = done.document["connections"]
    assert (first["name"], first["port"], first["address"]) == (API, 80, PUBLIC)
    assert (first["outcome"], first["reason"]) == ("closed", "")
    assert first["bytes_out"] > 40
    assert first["bytes_in"] > 40
    assert 0 < first["seconds"] < 10
    assert first["process"]["command"].startswith(PYTHON)
    assert second["address"] == "2600:1::1"
    assert second["process"]["command"].startswith("/usr/bin/curl")
    assert second["process"]["parents"][0]["command"].startswith(PYTHON)


def test_a_server_that_is_not_there_is_no_refusal(internet: Internet) -> None:
    done = internet.guest(PRELUDE + "get('api.example.com', 4444)", f"{API}:4444")
    assert refusals(done.document) == []
    (one,) = done.document["connections"]
    assert (one["outcome"], one["reason"]) == ("failed", "connection refused")
    missing = internet.guest(
        PRELUDE + "get('gone.example.com', host='gone.example.com')", "gone.example.com"
    )
    (one,) = missing.document["connections"]
    assert one["outcome"] == "failed"
    assert one["reason"].startswith("the name can't be resolved")


def test_a_run_without_rules_names_the_rule_that_it_lacks(internet: Internet) -> None:
    done = internet.guest(PRELUDE + "get('api.example.com')", "none")
    wanted = ("resolve", API, "this run has no network and resolves no names", f"--net {API}")
    assert refusals(done.document) == [wanted]


def test_the_host_s_network_includes_every_name(internet: Internet) -> None:
    done = internet.guest(PRELUDE + "get('other.example.org')", API, "host")
    assert REACHED in done.document["stdout"]


def test_a_policy_file_has_rules_and_its_mistakes_have_a_place(internet: Internet) -> None:
    policy = internet.directory / "rules.toml"
    policy.write_text('[network]\nallow = ["api.example.com"]\n')
    done = internet.guest(PRELUDE + "get('api.example.com')", options=("--policy", policy))
    assert REACHED in done.document["stdout"]
    policy.write_text('[network]\nallow = ["api.example.com", "*.com"]\n')
    done = internet.run(*COMMAND, "exec", "--policy", policy, "--", "true")
    assert done.code == 125
    assert "rules.toml:2:" in done.stderr
    assert "wider than a rule may be" in done.stderr


def test_a_refusal_is_printed_at_once_with_its_process(internet: Internet) -> None:
    script = "curl -sS -m 5 http://other.example.org/; echo after >&2; sleep 0.3"
    done = internet.run(*COMMAND, "exec", "--net", API, "--", "sh", "-c", script)
    lines = done.stderr.splitlines()
    live = next(i for i, line in enumerate(lines) if line.startswith("wardian: blocked"))
    assert lines[live] == (
        "wardian: blocked resolve other.example.org  curl -sS -m 5 http://other.exam…"
        "  no rule allows this name  allow: --net other.example.org"
    )
    assert live < lines.index("after")
    quiet = internet.run(*COMMAND, "exec", "-q", "--net", API, "--", "sh", "-c", script)
    assert "wardian:" not in quiet.stderr


def test_a_run_that_is_killed_leaves_no_thread(internet: Internet) -> None:
    code = (
        "import threading, time\nfrom wardian import Policy, Sandbox\n"
        "policy = Policy.default()._replace(network='names', allow_hosts=('api.example.com',))\n"
        "with Sandbox(policy) as sandbox:\n"
        "    process = sandbox.start(['sleep', '60'])\n"
        "    time.sleep(0.5)\n"
        "    before = [t.name for t in threading.enumerate()]\n"
        "    process.kill()\n"
        "    process.wait()\n"
        "    time.sleep(0.3)\n"
        "print('wardian-network' in before, [t.name for t in threading.enumerate()])"
    )
    done = internet.run(COMMAND[0], "-P", "-c", code)
    assert done.stdout == "True ['MainThread']\n", done.stderr


def test_a_trace_shows_the_names_that_were_reached(internet: Internet) -> None:
    words = ("--net", API, "--", "curl", "-s", "http://api.example.com/x")
    done = internet.run(*COMMAND, "trace", "--json", *words)
    found = {(one["action"], one["name"]) for one in done.document["endpoints"]}
    assert ("connect", API) in found
    assert ("resolve", API) in found
    shown = internet.run(*COMMAND, "trace", *words)
    assert f"connect   {API} (198.18.0.1:80)" in shown.stdout + shown.stderr


def test_a_record_has_the_rules_and_the_connections(internet: Internet) -> None:
    words = ("--net", API, "--record", "log", "--", "curl", "-s", "http://api.example.com/x")
    internet.run(*COMMAND, "exec", *words)
    (record,) = (internet.directory / "log").rglob("record.json")
    text = "".join(path.read_text() for path in record.parent.iterdir() if path.is_file())
    assert 'allow = ["api.example.com"]' in text
    assert '"connections"' in text
