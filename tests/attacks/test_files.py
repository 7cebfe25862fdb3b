"""Files of the host: what was not shared does not exist, what was shared for reading stays as it
is, and what the guest makes can't be turned against its owner later."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.attacks.attack import (
    NO_WALLS,
    Attack,
    assert_contained,
    assert_each_wall_holds,
    assert_harmful,
    held_by_several,
    py,
    rows,
)
from tests.attacks.callers import LIBRARY, NAMES, PROGRAMS, ROOT, Caller
from tests.attacks.conftest import Scene

SECRET = "the-hosts-secret"
# Without pivot_root the guest can get at the host's root; Landlock still knows which files are its
# own. A root caller's guest is kept from private files by its identity besides.
ESCAPE = ("pivot", "landlock")
CLIMB = "/programs/escape %s || @STAGE@/bin/escape %s"
READ_SHARE = {"shares": [("@SHARE@", "/share", False)]}
WORK = {"work": "@WORK@"}
BOTH = READ_SHARE | WORK


def set_id(how: str) -> list[str]:
    """Try to leave a set-user-ID file in the work directory, and say so if it is there."""
    return py(
        "import os, ctypes\n"
        "os.chdir('/work'); name = 's%d' % os.getpid()\n"
        "call = ctypes.CDLL(None, use_errno=True).syscall\n"
        "close = lambda: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o700))\n"
        f"try:\n    {how}\n"
        "except OSError as error: print(error)\n"
        "try:\n    print('set-id' if os.stat(name).st_mode & 0o6000 else 'no'); os.unlink(name)\n"
        "except OSError as error: print(error)\n"
    )


MODES = py(
    "import os\nos.chdir('/work'); os.close(os.open('m', os.O_CREAT | os.O_WRONLY, 0o755))\n"
    "os.chmod('m', 0o1700); print('fine' if os.stat('m').st_mode & 0o7777 == 0o1700 else 'no')"
)

READING = [
    Attack(
        "a-file-anyone-may-read",
        CLIMB.replace("%s", "@OPEN@"),
        SECRET,
        ESCAPE,
        permitted=["sh", "-c", "echo fine > /tmp/own; cat /tmp/own"],
    ),
    Attack(
        "a-private-file", CLIMB.replace("%s", "@CLOSED@"), SECRET, ESCAPE, as_root=("identity",)
    ),
    Attack(
        "the-package-itself",
        CLIMB.replace("%s", "@STAGE@/src/wardian/__init__.py"),
        "import",
        ESCAPE,
    ),
    Attack("by-its-path", "cat @OPEN@", SECRET, NO_WALLS),
    Attack("by-climbing", "cat /work/../../../../../..@OPEN@", SECRET, NO_WALLS),
    Attack(
        "through-proc-self-root",
        "cat /proc/self/root/@OPEN@ /proc/self/root/..@OPEN@",
        SECRET,
        NO_WALLS,
    ),
    Attack("through-a-process-of-the-hosts", "cat /proc/@VICTIM@/root@OPEN@", SECRET, NO_WALLS),
    Attack(
        "through-pid-1", "cat /proc/1/root@OPEN@ /proc/1/cwd@OPEN@ || cat @OPEN@", SECRET, NO_WALLS
    ),
    Attack(
        "through-a-link-of-its-own",
        "ln -sf @OPEN@ /work/l; cat /work/l",
        SECRET,
        NO_WALLS,
        options=WORK,
        permitted="echo fine > /work/f; ln -sf f /work/g; cat /work/g",
    ),
    Attack(
        "through-a-link-in-a-share",
        "ls /share/link/",
        "wardian",
        NO_WALLS,
        options=READ_SHARE,
        permitted=f"grep -q {SECRET} /share/file && echo fine",
    ),
    Attack("the-home-of-another", "ls -d @HOME@ && echo there", "there", NO_WALLS),
    Attack(
        "the-real-users",
        "grep -c . /etc/passwd | grep -vx 3 && echo users",
        "users",
        NO_WALLS,
        permitted="id -un | grep -qx user && echo fine",
    ),
    Attack("shadow", "cat /etc/shadow", "root:", NO_WALLS, callers=("root",)),
    Attack("sys", "ls /sys/kernel", "mm", NO_WALLS),
    Attack(
        "the-hosts-tmp",
        "ls -d @STAGE@ && echo there",
        "there",
        NO_WALLS,
        permitted="touch /tmp/f && echo fine",
    ),
]

WRITING = [
    Attack(
        "write",
        "echo more >> /share/file && echo changed",
        "changed",
        ("readonly", "landlock"),
        options=BOTH,
        permitted="echo fine > /work/file; cat /work/file",
    ),
    Attack(
        "create",
        "echo x > /share/n && echo made; rm -f /share/n",
        "made",
        ("readonly", "landlock"),
        options=READ_SHARE,
    ),
    Attack(
        "remove",
        "touch /share/extra; rm /share/extra && echo removed",
        "removed",
        ("readonly", "landlock"),
        options=READ_SHARE,
    ),
    # Landlock does not know these acts: the mount alone holds them.
    Attack(
        "chmod",
        "chmod 640 /share/file && echo changed; chmod 644 /share/file",
        "changed",
        ("readonly",),
        options=READ_SHARE,
    ),
    Attack(
        "utimes",
        "touch -d 2001-01-01 -c /share/file && echo changed",
        "changed",
        ("readonly",),
        options=READ_SHARE,
    ),
    Attack(
        "xattr",
        py("import os\nos.setxattr('/share/file', 'user.a', b'x'); print('changed')"),
        "changed",
        ("readonly",),
        options=READ_SHARE,
    ),
    Attack(
        "hard-link-out-of-a-share",
        py(
            "import os\nos.link('/share/file', '/work/hard')\n"
            "print('linked'); os.unlink('/work/hard')"
        ),
        "linked",
        NO_WALLS,
        options=BOTH,
        permitted="echo fine > /work/x; ln /work/x /work/y; cat /work/y; rm /work/x /work/y",
    ),
    Attack(
        "rename-out-of-a-share",
        "mv /share/file /work/moved && echo moved; mv /work/moved /share/file",
        "moved",
        NO_WALLS,
        options=BOTH,
    ),
    Attack(
        "its-own-etc", "echo x > /etc/passwd && echo changed", "changed", ("readonly", "landlock")
    ),
    Attack(
        "a-program-of-the-hosts",
        "chmod 755 /programs/call && echo changed",
        "changed",
        ("readonly",),
        callers=("root",),
        permitted="/programs/call 39 >/dev/null && echo fine",
    ),
    Attack(
        "chown",
        py(
            "import os\nos.chown('/work', 54322, 54322); print('given away')\n"
            "os.chown('/work', 0, 0)"
        ),
        "given away",
        NO_WALLS,
        options=WORK,
        callers=("root",),
    ),
]

SET_ID = [
    Attack(name, set_id(how), "set-id", ("seccomp",), options=WORK, permitted=MODES)
    for name, how in {
        "chmod": "close(); os.chmod(name, 0o4755)",
        "chmod-set-group": "close(); os.chmod(name, 0o2755)",
        "fchmod": "close(); os.fchmod(os.open(name, os.O_RDONLY), 0o4755)",
        "fchmodat": "close(); os.chmod(name, 0o4755, dir_fd=os.open('.', 0))",
        "fchmodat2": "close(); call(452, -100, name.encode(), 0o4755, 0)",
        "open": "os.open(name, os.O_CREAT | os.O_WRONLY, 0o4755)",
        "creat": "call(85, name.encode(), 0o4755)",
        "mknod": "os.mknod(name, 0o104755)",
        "openat2": "call(437, -100, name.encode(), "
        "ctypes.byref((ctypes.c_uint64 * 3)(0o101, 0o4755, 0)), 24)",
        "high-bits": "close(); call(90, name.encode(), ctypes.c_uint64(0xdead00000000 | 0o4755))",
    }.items()
]

ALL = READING + WRITING


@rows(ALL)
def test_files_of_the_host_are_out_of_reach(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_contained(attack, caller, scene)


@rows(ALL)
def test_files_of_the_host_are_in_reach_without_the_wall(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    assert_harmful(attack, caller, scene)


@rows(SET_ID)
def test_no_file_that_runs_as_its_owner_is_left_behind(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    assert_contained(attack, caller, scene)


@rows(SET_ID)
def test_a_set_id_file_is_left_behind_without_the_filter(
    attack: Attack, caller: Caller, scene: Scene
) -> None:
    assert_harmful(attack, caller, scene)


@pytest.mark.skipif(not ROOT, reason="only root can make a file that belongs to someone else")
@pytest.mark.parametrize("caller", ["root"], indirect=True)
def test_roots_guest_may_not_read_what_others_keep_private_in_a_share(caller: Caller) -> None:
    """The guest acts as the share's owner there, and as nobody else: its identity, and the map of
    the mount, which can't be left out. Natively root reads it all."""
    share = caller.directory()
    for name, owner in (("theirs", 12345), ("roots", 0), ("open", 12345)):
        (share / name).write_text(SECRET)
        os.chown(share / name, owner, owner)
        (share / name).chmod(0o644 if name == "open" else 0o600)
    os.chown(share, 12346, 12346)
    shares = [(str(share), "/share", False)]
    assert SECRET not in caller.run("cat /share/theirs /share/roots", shares=shares).text
    assert SECRET in caller.run("cat /share/open", shares=shares).text
    assert SECRET in caller.run("cat /share/roots", shares=shares, without=NO_WALLS).text


@pytest.mark.skipif(not ROOT, reason="only root can make a set-user-ID program of root's")
@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_set_uid_program_in_a_share_gives_nothing(caller: Caller) -> None:
    """nosuid mounts, no_new_privs and a user namespace without root hold this three times over, and
    the last two can't be left out: so the harm is shown on the host, by an ordinary user."""
    share = caller.directory()
    program = share / "whoami"
    program.write_bytes(Path("/usr/bin/id").read_bytes())
    program.chmod(0o4755)
    os.chown(share, caller.uid, caller.gid)
    shares = [(str(share), "/share", False)]
    inside = caller.run("/share/whoami -u", shares=shares)
    assert inside.text.strip() == "1000", inside
    assert caller.run("/share/whoami -u", shares=shares, without=NO_WALLS).text.strip() == "0"


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("program", ["su", "sudo", "mount", "passwd", "newuidmap"])
def test_the_hosts_set_uid_programs_run_as_the_guest(caller: Caller, program: str) -> None:
    found = f"/usr/bin/{program}"
    if not os.path.exists(found) or not os.stat(found).st_mode & stat.S_ISUID:
        pytest.skip(f"this host has no set-user-ID {program}")
    code = (
        "import subprocess, time\n"
        f"p = subprocess.Popen(['{found}'], stdin=subprocess.PIPE, stderr=-3, stdout=-3)\n"
        "uids = open(f'/proc/{p.pid}/status').read().split('Uid:')[1].split('\\n')[0].split()\n"
        "print('fine' if set(uids) == {'1000'} else uids); p.kill()"
    )
    assert "fine" in caller.run(py(code)).text


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_read_only_place_in_a_writable_share_can_not_be_replaced(caller: Caller) -> None:
    """Neither itself nor a directory above it: else the host would find the guest's file there."""
    work = caller.directory()
    kept = work / "a" / "b"
    kept.mkdir(parents=True)
    (kept / "settings").write_text("safe")
    for path in (work / "a", kept, kept / "settings"):
        os.chown(path, caller.uid, caller.gid)
    outcome = caller.run(
        "mv a/b a/c; mv a x; rm -rf a; mkdir -p a/b; echo evil > a/b/settings; echo fine > a/new",
        work=str(work),
        shares=[(str(kept), "/work/a/b", False)],
    )
    assert (kept / "settings").read_text() == "safe", outcome
    assert (work / "a" / "new").read_text() == "fine\n", outcome


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_wardians_own_files_can_not_be_replaced_from_a_work_directory_that_holds_them(
    caller: Caller,
) -> None:
    """Whoever works on a project that contains wardian would run the guest's code next time."""
    outcome = caller.run(
        "mv src other; mkdir -p src/wardian; echo evil > src/wardian/__init__.py; "
        "echo evil > src/wardian/_bin/wardian-launch",
        work=str(caller.stage),
    )
    own = caller.stage / LIBRARY / "wardian"
    assert "evil" not in (own / "__init__.py").read_text(), outcome
    assert (own / "_bin" / "wardian-launch").stat().st_size > 10_000, outcome
    assert (caller.stage / PROGRAMS).is_dir()


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_file_given_as_standard_input_can_not_be_reopened_for_writing(
    caller: Caller, scene: Scene
) -> None:
    """Read-only or not is a matter of the descriptor, and /proc/self/fd makes new ones. Natively
    the same act succeeds."""
    given = Path(scene["WORK"]) / "input"
    act = (
        "import os\ntry: os.write(os.open('/proc/self/fd/0', os.O_WRONLY | os.O_TRUNC), b'evil')\n"
    )
    act += "except OSError: pass\n"
    code = (
        f"import sys; sys.path.insert(0, {str(caller.stage / LIBRARY)!r})\n"
        "from wardian import Sandbox\n"
        "with Sandbox.create() as sandbox:\n"
        f"    sandbox.start_inherited(['python3', '-c', {act!r}]).pump()\n"
        "    sandbox.start_inherited(['cat']).pump()\n"
    )
    for script, written in ((code, "good"), (act, "evil")):
        given.write_text("good")
        os.chown(given, caller.uid, caller.gid)
        with open(given) as stdin:
            process = caller.popen(
                [caller.python, "-I", "-c", script], stdin=stdin, stdout=subprocess.PIPE, text=True
            )
            process.communicate(timeout=30)
        assert given.read_text() == written


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_device_node_in_a_share_opens_nothing(caller: Caller) -> None:
    """nodev; making one needs rights that no user namespace gives."""
    if caller.uid != 0:
        outcome = caller.run(py("import os\nos.mknod('/work/null', 0o20666, os.makedev(1, 3))"))
        assert "Operation not permitted" in outcome.text
        return
    work = caller.directory()
    try:
        os.mknod(work / "null", 0o20666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this machine does not let its root make device nodes")
    outcome = caller.run("echo x > /work/null; echo x > /dev/null && echo fine", work=str(work))
    assert "Permission denied" in outcome.text
    assert "fine" in outcome.text


@rows(held_by_several(ALL))
def test_each_wall_alone_holds(attack: Attack, caller: Caller, scene: Scene) -> None:
    assert_each_wall_holds(attack, caller, scene)
