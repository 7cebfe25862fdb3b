"""Kernel surface: calls that a sandboxed program has no business making, by every way in."""

from __future__ import annotations

import os

import pytest

from tests.attacks.attack import (
    Attack,
    assert_contained,
    assert_each_wall_holds,
    assert_harmful,
    attempt,
    held_by_several,
    py,
    rows,
)
from tests.attacks.callers import NAMES, Caller
from tests.attacks.conftest import Scene
from wardian.syscalls import number

ARCH = os.uname().machine
NOWHERE = "0xffffffffffffffff"
CORE_LIMIT = """
import ctypes, resource
libc = ctypes.CDLL(None, use_errno=True)
dirty = 1 << 32  # the kernel ignores the upper half of a pid and of a resource
for cur, most in ((0, 0), (0, 1), (1 << 30, 1 << 30), (resource.RLIM_INFINITY,) * 2):
    new, old = (ctypes.c_ulong * 2)(cur, most), (ctypes.c_ulong * 2)()
    at, room = ctypes.addressof(new), ctypes.addressof(old)
    for call in ((SETRLIMIT, 4, at), (SETRLIMIT, 4 | dirty, at), (PRLIMIT64, 0, 4, at, 0),
                 (PRLIMIT64, dirty, 4 | dirty, at, 0), (PRLIMIT64, 0, 4, at, room)):
        libc.syscall(*map(ctypes.c_long, call))
        print('limit', resource.getrlimit(resource.RLIMIT_CORE)[0])
""".replace("SETRLIMIT", str(number("setrlimit", ARCH))).replace(
    "PRLIMIT64", str(number("prlimit64", ARCH))
)
# Arguments that do nothing even where the call is allowed, and reach the kernel's own checks.
CALLS: dict[str, tuple[str, ...]] = {
    # tracing, other processes
    "ptrace": ("0x4206", "-1"),
    "process_vm_readv": ("-1", "0", "0", "0", "0", "1"),
    "process_vm_writev": ("-1", "0", "0", "0", "0", "1"),
    "pidfd_getfd": ("-1", "-1", "-1"),
    "kcmp": ("-1", "-1", "99"),
    "perf_event_open": ("0", "-1", "-1", "-1", "0"),
    # kernel code and machine
    "bpf": ("-1", "0", "0"),
    "init_module": ("0", "0", "0"),
    "finit_module": ("-1", "0", "0"),
    "delete_module": ("0", "0"),
    "kexec_load": ("0", "99", "0", "-1"),
    "kexec_file_load": ("-1", "-1", "0", "0", "-1"),
    "reboot": ("0", "0", "0"),
    "iopl": ("9",),
    "ioperm": ("-1", "-1", "1"),
    "modify_ldt": ("99",),
    "swapon": ("0", "-1"),
    "swapoff": ("0",),
    "acct": (NOWHERE,),
    "syslog": ("99",),
    "quotactl": ("-1", "0", "0", "0"),
    "vhangup": (),
    "userfaultfd": ("-1",),
    "memfd_secret": ("-1",),
    "lsm_set_self_attr": ("0", "0", "0", "-1"),
    # io_uring
    "io_uring_setup": ("0", "0"),
    "io_uring_enter": ("-1", "0", "0", "0"),
    "io_uring_register": ("-1", "99", "0", "0"),
    # mounts, old and new
    "mount": ("s:none", "s:/nowhere", "s:tmpfs", "0", "0"),
    "umount2": ("s:/nowhere", "0"),
    "pivot_root": ("s:/nowhere", "s:/nowhere"),
    "chroot": ("s:/nowhere",),
    "open_tree": ("-1", "s:", "-1"),
    "move_mount": ("-1", "s:", "-1", "s:", "-1"),
    "fsopen": ("s:nothing", "-1"),
    "fsconfig": ("-1", "99", "0", "0", "0"),
    "fsmount": ("-1", "-1", "0"),
    "fspick": ("-1", "s:", "-1"),
    "mount_setattr": ("-1", "s:", "-1", "0", "0"),
    "open_tree_attr": ("-1", "s:", "-1", "0", "0"),
    "statmount": ("0", "0", "0", "-1"),
    "listmount": ("0", "0", "0", "-1"),
    "name_to_handle_at": ("-1", "s:", "0", "0", "-1"),
    "open_by_handle_at": ("-1", "0", "0"),
    "fanotify_init": ("-1", "0"),
    "fanotify_mark": ("-1", "0", "0", "-1", "0"),
    "setns": ("-1", "0"),
    # keys
    "add_key": ("0", "0", "0", "0", "0"),
    "request_key": ("0", "0", "0", "0"),
    "keyctl": ("99",),
    # clocks, names
    "clock_settime": ("0", NOWHERE),
    "settimeofday": (NOWHERE, NOWHERE),
    "adjtimex": (NOWHERE,),
    "clock_adjtime": ("0", NOWHERE),
    "sethostname": ("s:evil", "4"),
    "setdomainname": ("s:evil", "4"),
    # memory of other nodes and processes
    "move_pages": ("-1", "0", "0", "0", "0", "-1"),
    "migrate_pages": ("-1", "0", "0", "0"),
    "process_madvise": ("-1", "0", "0", "-1", "-1"),
    "process_mrelease": ("-1", "-1"),
    "remap_file_pages": ("0", "0", "1", "0", "0"),
    # by argument
    "unshare": ("0x10000000",),
    "personality": ("0x0040000",),
    "mknod": ("s:/tmp/device", "0x6180", "0x100"),
    "prctl": ("35", "99", "0", "0", "0"),
    "ioctl": ("1", "0x5412", NOWHERE),
}
BY_ARGUMENT = {
    "ioctl-tiocsti-high-bits": ("ioctl", "1", "0xdead00005412", NOWHERE),
    "ioctl-tioclinux": ("ioctl", "1", "0x541c", NOWHERE),
    "ioctl-tioclinux-high-bits": ("ioctl", "1", "0xffffffff0000541c", NOWHERE),
    "ioctl-tioccons": ("ioctl", "1", "0x541d"),
    "ioctl-line-discipline": ("ioctl", "1", "0x5423", NOWHERE),
    "ioctl-console-keys": ("ioctl", "1", "0x4b47", NOWHERE),
    "clone-new-user": ("clone", "0x10000011"),
    "clone-new-net": ("clone", "0x40000011"),
    "unshare-new-net": ("unshare", "0x40000000"),
    "unshare-new-mount": ("unshare", "0x20000"),
    "unshare-new-pid": ("unshare", "0x20000000"),
    "unshare-new-ipc": ("unshare", "0x8000000"),
    "unshare-new-uts": ("unshare", "0x4000000"),
    "unshare-new-cgroup": ("unshare", "0x2000000"),
    "unshare-new-time": ("unshare", "0x80"),
    "mknodat-block": ("mknodat", "-100", "s:/tmp/disk", "0x6180", "0xfe00"),
    "mknodat-char": ("mknodat", "-100", "s:/tmp/memory", "0x2180", "0x101"),
    "personality-uname": ("personality", "0x0020000"),
}
REQUESTS = {name: (name, *args) for name, args in CALLS.items()} | BY_ARGUMENT


def known(name: str) -> bool:
    return number(REQUESTS[name][0], ARCH) is not None


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("name", [name for name in REQUESTS if known(name)])
def test_a_dangerous_call_does_not_reach_the_kernel(caller: Caller, name: str) -> None:
    """The filter answers, and the launcher tells of it. Without the filter the kernel itself does:
    some it would grant, others stop at a check that one more mistake in the kernel undoes."""
    call, *args = REQUESTS[name]
    command = ["/programs/call", str(number(call, ARCH)), *args]
    outcome = caller.run(command)
    assert outcome.stdout.split() == ["-1", "EPERM"], outcome
    assert call in outcome.refused, outcome
    reached = caller.run(command, without=("seccomp",))
    assert reached.refused == []
    assert reached.stdout or reached.exit_code != 0, reached  # vhangup and clone may print nothing


def test_every_refused_call_is_tried() -> None:
    from wardian.syscalls.table import rows as table

    tried = {request[0] for request in REQUESTS.values()}
    elsewhere = {"quotactl_fd"}  # quotactl on a descriptor
    refused = {r.name for r in table() if r.decision == "deny" and r.number(ARCH) is not None}
    assert refused - tried - elsewhere == set()


NEW = {
    "user": 0x10000000,
    "mount": 0x20000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "ipc": 0x8000000,
    "uts": 0x4000000,
    "cgroup": 0x2000000,
}
CLONE3 = (
    "import ctypes, os\n"
    "args = (ctypes.c_uint64 * 11)({flags}, 0, 0, 0, 17)\n"
    "child = ctypes.CDLL(None, use_errno=True).syscall(435, ctypes.byref(args), 88)\n"
    "if child == 0:\n    {inside}\n    os._exit(0)\n"
    "if child > 0: os.waitpid(child, 0)\n"
    "else: print(os.strerror(ctypes.get_errno()))\n"
)
CAPABILITIES = (
    "print('capable' if 'CapEff:\\t0000000000000000' not in open('/proc/self/status').read() "
    "else 'no', flush=True)"
)
PLAIN_CLONE3 = py(CLONE3.format(flags=0, inside="print('fine', flush=True)"))

NESTED = [
    # clone3's flags lie behind a pointer, out of a filter's sight: the count of namespaces holds.
    Attack(
        "clone3-user",
        py(CLONE3.format(flags=NEW["user"], inside=CAPABILITIES)),
        "capable",
        ("sysctl",),
        permitted=PLAIN_CLONE3,
    ),
    Attack(
        "clone3-user-and-net",
        py(CLONE3.format(flags=NEW["user"] | NEW["net"], inside=CAPABILITIES)),
        "capable",
        ("sysctl",),
    ),
    Attack(
        "unshare-user",
        py("import ctypes\nctypes.CDLL(None).unshare(0x10000000)\n" + CAPABILITIES),
        "capable",
        ("sysctl", "seccomp"),
        permitted=py(
            "import ctypes\nprint('fine' if ctypes.CDLL(None).unshare(0x400) == 0 else 'no')"
        ),
    ),
    Attack(
        "unshare-command", "unshare -Ur id -u", "0", ("sysctl", "seccomp", "readonly", "landlock")
    ),
    *(
        Attack(
            f"clone3-{name}",
            py(CLONE3.format(flags=flag | NEW["user"], inside="print('made', flush=True)")),
            "made",
            ("sysctl",),
            permitted=PLAIN_CLONE3,
        )
        for name, flag in NEW.items()
        if name != "user"
    ),
]

EFFECTS = [
    Attack(
        "keyring",
        py(
            "import ctypes\nr = ctypes.CDLL(None).syscall(248, b'user', b'attack', b'x', "
            "1, -2)\nprint('stored' if r > 0 else 'no')"
        ),
        "stored",
        ("seccomp",),
    ),
    Attack(
        "keys-listed",
        "cat /proc/keys | grep -c . | grep -vx 0",
        "\n",
        ("mask",),
        permitted="test -e /proc/keys && echo fine",
    ),
    Attack(
        "personality",
        py(
            "import ctypes\nr = ctypes.CDLL(None).personality(0x40000)\n"
            "print('set' if r != -1 else 'no')"
        ),
        "set",
        ("seccomp",),
        permitted=py(
            "import ctypes\nprint('fine' if ctypes.CDLL(None).personality(-1) >= 0 else 'no')"
        ),
    ),
    Attack(
        "32-bit-calls",
        ["/programs/foreign", "int80"],
        "reached",
        ("seccomp",),
        permitted=["/bin/echo", "fine"],
    ),
    Attack(
        "proc-sys",
        py(
            "import ctypes\nctypes.CDLL(None).unshare(0x50000000)\n"
            "open('/proc/sys/net/ipv4/ip_forward', 'w').write('1'); print('written')"
        ),
        "written",
        ("readonly", "landlock", "sysctl", "seccomp"),
        permitted="cat /proc/sys/kernel/ostype >/dev/null && echo fine",
    ),
    # Opened only, not written: it is the host's. Its owner is user 0 outside, so that a root
    # caller's guest is kept away by its identity as well.
    Attack(
        "core-pattern",
        py("open('/proc/sys/kernel/core_pattern', 'r+'); print('opened')"),
        "opened",
        ("readonly", "landlock", "identity"),
        callers=("root",),
    ),
    Attack(
        "sysrq",
        py("open('/proc/sysrq-trigger', 'r+'); print('opened')"),
        "opened",
        ("readonly", "landlock", "identity", "mask"),
        callers=("root",),
    ),
    # With a piped core_pattern, the host's handler runs at any limit but 1, core(5).
    Attack(
        "core-limit",
        py(CORE_LIMIT),
        "limit 0",
        ("seccomp",),
        permitted="ulimit -c 0 && echo fine",
    ),
    Attack(
        "own-proc",
        py("open('/proc/self/coredump_filter', 'w').write('1'); print('written')"),
        "written",
        ("readonly", "landlock"),
    ),
    Attack(
        "hostname",
        "hostname; cat /proc/sys/kernel/hostname",
        "@HOSTNAME@",
        ("uts",),
        permitted="test $(hostname) = wardian && echo fine",
    ),
]


@rows(NESTED)
def test_no_namespaces_inside(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_contained(attack, caller, scene)


@rows(NESTED)
def test_namespaces_inside_give_capabilities_without_the_wall(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    assert_harmful(attack, caller, scene)


@rows(EFFECTS)
def test_the_kernel_is_left_alone(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_contained(attack, caller, scene)


@rows(EFFECTS)
def test_the_kernel_is_changed_without_the_wall(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    outcome = attempt(attack, caller, scene, attack.without(caller))
    if attack.name == "32-bit-calls" and ("absent" in outcome.text or outcome.exit_code != 0):
        pytest.skip("this kernel has no 32-bit calls")
    if attack.name == "sysrq" and "No such file" in outcome.text:
        pytest.skip("this kernel has no sysrq")
    assert_harmful(attack, caller, scene)


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_x32_calls_are_refused(caller: Caller) -> None:
    """Kernels without x32 answer ENOSYS by themselves; ours is EPERM, from the filter."""
    if ARCH != "x86_64":
        pytest.skip("x32 is of x86-64 only")
    assert "refused -1" in caller.run(["/programs/foreign", "x32"]).text
    assert "refused -1 " not in caller.run(["/programs/foreign", "x32"], without=("seccomp",)).text


INFORMATION = {
    "the-machines-id": ("cat /etc/machine-id", "/etc/machine-id"),
    "the-boots-id": ("cat /proc/sys/kernel/random/boot_id", "/proc/sys/kernel/random/boot_id"),
    "the-kernels-command-line": ("cat /proc/cmdline", "/proc/cmdline"),
    "the-hosts-name": ("cat /etc/hostname", "/etc/hostname"),
    "the-hosts-mounts": ("cat /proc/mounts", "/proc/mounts"),
    "the-hosts-control-groups": ("cat /proc/self/cgroup", "/proc/self/cgroup"),
}


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("name", INFORMATION)
def test_the_guest_does_not_learn(caller: Caller, name: str) -> None:
    """Natively the same command prints it."""
    command, path = INFORMATION[name]
    if not os.path.exists(path):
        pytest.skip(f"this host has no {path}")
    native = caller.run(command, without=("every wall",)).stdout.splitlines()
    telling = {line for line in native if len(line.strip()) > 1}
    if name == "the-hosts-control-groups":
        telling = {line for line in telling if not line.endswith(":/")}
    inside = set(caller.run(command).stdout.splitlines())
    assert not telling & inside


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_the_guest_stands_at_the_root_of_its_control_groups(caller: Caller) -> None:
    """The run's own group is named after a process of the host."""

    def paths(process: str, *without: str) -> set[str]:
        shown = caller.run(f"cat /proc/{process}/cgroup", without=without).stdout.splitlines()
        return {line.split(":", 2)[2] for line in shown}

    assert paths("self") == {"/"}
    assert paths("1") <= {"/", "/.."}
    if os.access("/sys/fs/cgroup/memory/cgroup.procs", os.W_OK) and caller.name == "root":
        assert any("/wardian-" in path for path in paths("self", "cgroup"))


@rows(held_by_several(NESTED + EFFECTS))
def test_each_wall_alone_holds(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_each_wall_holds(attack, caller, scene)
