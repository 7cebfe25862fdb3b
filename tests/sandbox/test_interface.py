"""A network interface besides lo, for programs that look for one: found, and leading nowhere."""

from __future__ import annotations

import errno
import os
import sys

import pytest

from tests.conftest import MakeSandbox
from wardian import Policy, Sandbox
from wardian.errors import UsageError
from wardian.sandbox.backends.walls import Walls, settled
from wardian.sandbox.run.failures import explain

PYTHON = os.path.realpath(sys.executable)
# What programs ask, getifaddrs(3): name, flags and IPv4 address of each interface.
LIST = """
import ctypes, errno, socket, struct, time
class Interface(ctypes.Structure): pass
Interface._fields_ = [("next", ctypes.POINTER(Interface)), ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint), ("address", ctypes.c_void_p)]
first = ctypes.POINTER(Interface)()
assert ctypes.CDLL(None).getifaddrs(ctypes.byref(first)) == 0
found, at = {}, first
while at:
    one, at = at.contents, at.contents.next
    raw = ctypes.string_at(one.address, 8) if one.address else b""
    if raw[:2] == struct.pack("H", socket.AF_INET):
        found[one.name.decode()] = (one.flags, socket.inet_ntoa(raw[4:8]))
UP, BROADCAST, LOOPBACK, RUNNING, MULTICAST = 1, 2, 8, 64, 4096
others = {name: one for name, one in found.items() if not one[0] & LOOPBACK}
"""
WITH = Policy.default().but(interface=True)


def printed(sandbox: Sandbox, script: str) -> str:
    result = sandbox.run([PYTHON, "-c", LIST + script])
    assert result.exit_code == 0, result.stderr.decode()
    network = [one for one in result.refusals if one.kind == "network"]
    return result.text + "".join(f"{one.action} {one.target}\n" for one in network)


def test_there_is_none_unless_asked_for(sandbox: Sandbox) -> None:
    assert printed(sandbox, "print(sorted(found), others)") == "['lo'] {}\n"


def test_an_interface_is_found_and_works_among_the_guest_s_own(make_sandbox: MakeSandbox) -> None:
    script = """
[(name, (flags, address))] = others.items()
print(name, address, bool(flags & UP), bool(flags & MULTICAST))
server = socket.create_server((address, 0))
with socket.create_connection(server.getsockname()) as client:
    print(client.getsockname()[0], server.accept()[1][0])
"""
    found = printed(make_sandbox(WITH), script)
    assert found == "eth0 203.0.113.2 True True\n203.0.113.2 203.0.113.2\n"


def test_a_group_is_joined_and_heard_without_naming_the_interface(
    make_sandbox: MakeSandbox,
) -> None:
    script = """
group = "224.0.0.251"
member = socket.socket(type=socket.SOCK_DGRAM)
member.bind(("", 5353))
member.setsockopt(0, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + bytes(4))
socket.socket(type=socket.SOCK_DGRAM).sendto(b"word", (group, 5353))
print(*member.recvfrom(9)[:1])
"""
    assert printed(make_sandbox(WITH), script) == "b'word'\n"


def test_every_other_address_stays_unreachable_at_once(make_sandbox: MakeSandbox) -> None:
    script = """
began = time.monotonic()
for host in "203.0.113.3", "203.0.113.255", "198.51.100.7", "255.255.255.255":
    end = socket.socket()
    print(errno.errorcode.get(end.connect_ex((host, 9))))
print(time.monotonic() - began < 1)
"""
    found = printed(make_sandbox(WITH), script).splitlines()
    assert found[:5] == ["ENETUNREACH"] * 4 + ["True"]
    assert found[5:] == [
        f"connect {host}:9"
        for host in ("203.0.113.3", "203.0.113.255", "198.51.100.7", "255.255.255.255")
    ]


def test_the_host_s_own_interfaces_serve_with_its_network(make_sandbox: MakeSandbox) -> None:
    sandbox = make_sandbox(WITH.but(network="host"))
    assert "203.0.113.2" not in printed(sandbox, "print(found)")


def test_a_kernel_that_makes_none_is_named_with_the_cure() -> None:
    failed = {"wall": "interface", "what": "making one", "errno": errno.EOPNOTSUPP}
    error = explain(failed, WITH.limits)
    assert "interface" in str(error)
    assert "modprobe dummy" in (error.hint or "")


def test_a_backend_that_makes_none_refuses() -> None:
    with pytest.raises(UsageError, match="has no network interface") as caught:
        settled(WITH, Walls("bubblewrap", {}))
    assert "--backend wardian" in (caught.value.hint or "")
