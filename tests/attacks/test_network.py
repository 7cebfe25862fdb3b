"""The host's network, and socket families that reach kernel code no sandbox needs."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.attacks.attack import (
    NO_WALLS,
    Attack,
    assert_contained,
    assert_each_wall_holds,
    assert_harmful,
    attempt,
    held_by_several,
    py,
    rows,
)
from tests.attacks.callers import Caller
from tests.attacks.conftest import Scene

CONNECT = (
    "import socket\ns = socket.socket(socket.AF_{family}); s.connect({address}); print('connected')"
)
OWN_LOOPBACK = py(
    "import socket\na = socket.create_server(('127.0.0.1', 0)); "
    "b = socket.create_connection(a.getsockname()); print('fine')"
)
OWN_UNIX = py(
    "import socket\na = socket.socket(socket.AF_UNIX); a.bind('\\0mine'); a.listen(); "
    "b = socket.socket(socket.AF_UNIX); b.connect('\\0mine'); print('fine')"
)

REACHING = [
    Attack(
        "loopback",
        py(CONNECT.format(family="INET", address="('127.0.0.1', @PORT@)")),
        "connected",
        ("network",),
        permitted=OWN_LOOPBACK,
    ),
    Attack(
        "loopback-mapped",
        py(CONNECT.format(family="INET6", address="('::ffff:127.0.0.1', @PORT@)")),
        "connected",
        ("network",),
    ),
    Attack(
        "abstract-socket",
        py(CONNECT.format(family="UNIX", address="'\\0@ABSTRACT@'")),
        "connected",
        ("network", "landlock"),
        permitted=OWN_UNIX,
    ),
    Attack(
        "path-socket",
        py(CONNECT.format(family="UNIX", address="'@PATH_SOCKET@'")),
        "connected",
        NO_WALLS,
        permitted=OWN_UNIX,
    ),
    Attack(
        "interfaces",
        py(
            "import socket\nnames = {n for _, n in socket.if_nameindex()}\n"
            "print('others' if names - {'lo'} else names)"
        ),
        "others",
        ("network",),
        permitted=py(
            "import socket\nassert 'lo' in {n for _, n in socket.if_nameindex()}\nprint('fine')"
        ),
    ),
    Attack(
        "routes",
        py(
            "rows = open('/proc/net/route').read().splitlines(); "
            "print('routes' if len(rows) > 1 else '')"
        ),
        "routes",
        ("network",),
    ),
    Attack(
        "connections-of-the-host",
        py("print('seen' if '%04X' % @PORT@ in open('/proc/net/tcp').read() else '')"),
        "seen",
        ("network",),
    ),
    Attack("sockets-of-the-host", "cat /proc/net/unix", "@ABSTRACT@", ("network",)),
]

# To a group that somebody on the host is in, by whatever way out there seems to be.
TO_A_GROUP = py(
    "import socket\ns = socket.socket(type=socket.SOCK_DGRAM); s.settimeout(0.5)\n"
    "for own in '0.0.0.0', '127.0.0.1', '203.0.113.2':\n"
    "    try:\n"
    "        s.setsockopt(0, socket.IP_MULTICAST_IF, socket.inet_aton(own))\n"
    "        s.sendto(b'word', ('239.255.42.99', @GROUP_PORT@))\n"
    "        print(s.recv(9).decode())\n"
    "    except OSError as error: print(error)"
)
OWN_ADDRESS = py(
    "import socket\na = socket.create_server(('203.0.113.2', 0)); "
    "b = socket.create_connection(a.getsockname()); print('fine')"
)
THROUGH_AN_INTERFACE = [
    attack._replace(options={"interface": True}, permitted=OWN_ADDRESS)
    for attack in (
        *(one for one in REACHING if one.name not in ("interfaces", "routes")),
        Attack("a-group", TO_A_GROUP, "answered", ("network",)),
    )
]


def opened(family: int, kind: int, protocol: int) -> list[str]:
    return py(f"import socket\nsocket.socket({family}, {kind}, {protocol}); print('opened')")


STREAM, DATAGRAM, RAW, SEQUENCED = 1, 2, 3, 5
ORDINARY = py(
    "import socket\nfor f in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6): "
    "socket.socket(f).close(); socket.socket(f, socket.SOCK_DGRAM).close()\n"
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close(); print('fine')"
)
FAMILIES = {
    "netlink-usersock": (16, RAW, 2),
    "netlink-sock-diag": (16, RAW, 4),
    "netlink-xfrm": (16, RAW, 6),
    "netlink-audit": (16, RAW, 9),
    "netlink-netfilter": (16, RAW, 12),
    "netlink-uevent": (16, DATAGRAM, 15),
    "netlink-generic": (16, RAW, 16),
    "netlink-crypto": (16, RAW, 21),
    "vsock": (40, STREAM, 0),
    "alg": (38, SEQUENCED, 0),
    "key": (15, RAW, 2),
    "can": (29, RAW, 1),
    "tipc": (30, SEQUENCED, 0),
    "bluetooth": (31, RAW, 1),
    "kcm": (41, DATAGRAM, 0),
    "smc": (43, STREAM, 0),
    "mctp": (45, DATAGRAM, 0),
    "rds": (21, SEQUENCED, 0),
    "mptcp": (2, STREAM, 262),
    "sctp": (2, STREAM, 132),
}
RAW_SOCKETS = {
    "raw": (2, RAW, 1),
    "raw6": (10, RAW, 58),
    "packet": (17, RAW, 0x300),
    "old-packet": (2, 10, 0x300),
    "xdp": (44, RAW, 0),
}
# A user namespace inside, with a network of its own, would give the capability for these.
NESTED = "import ctypes, socket\nctypes.CDLL(None).unshare(0x50000000)\n"
SOCKETS = [
    Attack(name, opened(*how), "opened", ("seccomp",), permitted=ORDINARY)
    for name, how in FAMILIES.items()
] + [
    Attack(
        name,
        py(NESTED + f"socket.socket{how}; print('opened')"),
        "opened",
        ("seccomp", "sysctl"),
        permitted=ORDINARY,
    )
    for name, how in RAW_SOCKETS.items()
]


@rows(REACHING)
def test_the_hosts_network_is_out_of_reach(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_contained(attack, caller, scene)


@rows(REACHING)
def test_the_hosts_network_is_in_reach_without_the_wall(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    if attack.name in ("interfaces", "routes") and len(socket.if_nameindex()) < 2:
        pytest.skip("this machine has no interface but loopback")
    if attack.name == "loopback-mapped" and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    assert_harmful(attack, caller, scene)


@pytest.fixture
def in_a_group(scene: Scene) -> Iterator[Scene]:
    """The scene, with a process of the host that answers whoever sends to its group."""
    with socket.socket(type=socket.SOCK_DGRAM) as member:
        member.bind(("", 0))
        for own in ("127.0.0.1", "0.0.0.0"):
            with contextlib.suppress(OSError):  # there may be no other
                request = socket.inet_aton("239.255.42.99") + socket.inet_aton(own)
                member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, request)

        def answer() -> None:
            while (heard := member.recvfrom(9))[0] != b"end":
                member.sendto(b"answered", heard[1])

        thread = threading.Thread(target=answer)
        thread.start()
        port = member.getsockname()[1]
        yield scene | {"GROUP_PORT": str(port)}
        member.sendto(b"end", ("127.0.0.1", port))
        thread.join()


@rows(THROUGH_AN_INTERFACE)
def test_an_interface_is_no_way_out(attack: Attack, caller: Caller, in_a_group: Scene) -> None:
    assert_contained(attack, caller, in_a_group)


@rows(THROUGH_AN_INTERFACE)
def test_it_is_the_network_namespace_that_closes_it(
    attack: Attack, caller: Caller, in_a_group: Scene
) -> None:
    if attack.name == "loopback-mapped" and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    assert_harmful(attack, caller, in_a_group)


@rows(SOCKETS)
def test_rare_sockets_can_not_be_opened(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_contained(attack, caller, scene)


@rows(SOCKETS)
def test_rare_sockets_can_be_opened_without_the_filter(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    outcome = attempt(attack, caller, scene, attack.walls)
    if any(word in outcome.text for word in ("not supported", "No such device", "unknown")):
        pytest.skip(f"this kernel has no such socket: {outcome.text.splitlines()[-1]}")
    if attack.name in ("netlink-audit", "key", "bluetooth", "can") and "permitted" in outcome.text:
        pytest.skip("the kernel keeps this one for root")
    assert attack.harm in outcome.stdout, outcome


@rows(held_by_several(REACHING + SOCKETS))
def test_each_wall_alone_holds(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_each_wall_holds(attack, caller, scene)
