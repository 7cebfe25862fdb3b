"""Variables, directories, shares: what a guest finds, and what it leaves."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.sandbox.conformance.conftest import PYTHON, Box
from wardian import Sandbox
from wardian.errors import SandboxError, ShareError, UsageError, WallError
from wardian.sandbox.policy.policy import Share

SECRET = "conformance-secret"


def test_the_environment_is_made_anew(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", SECRET)
    monkeypatch.setenv("LANG", "C.UTF-8")
    shown = sandbox.run(["env"], env={"MINE": "a=b\nc", "EMPTY": ""}).text
    assert SECRET not in shown
    assert "MINE=a=b\nc\n" in shown
    assert "EMPTY=\n" in shown
    assert "LANG=C.UTF-8\n" in shown


def test_no_process_inside_knows_the_caller_s_environment(
    box: Box, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", SECRET)
    seen = sandbox.run(["sh", "-c", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'"])
    if box.stands("namespace.pid"):
        assert SECRET not in seen.text
        assert "HOME=" in seen.text


def test_a_policy_s_variables_reach_the_guest_and_the_call_s_win(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANTED", "passed")
    run = box.make(box.policy(pass_env=("WANTED",), set_env=(("A", "policy"),))).run
    assert run(["sh", "-c", "echo $WANTED $A"]).text == "passed policy\n"
    assert run(["sh", "-c", "echo $WANTED $A"], env={"A": "call"}).text == "passed call\n"


def test_the_working_directory_is_work_or_the_one_named(box: Box, sandbox: Sandbox) -> None:
    sandbox.files.write("sub/f", "")
    work = "/work" if box.has_root else os.path.dirname(_work_of(sandbox))
    tmp = sandbox.run(["sh", "-c", "echo $TMPDIR"]).text if box.name == "landlock" else "/tmp\n"
    there = sandbox.run(["pwd"], cwd="/tmp").text
    assert (there == tmp) is (box.name != "landlock")  # there, each run has a directory of its own
    assert os.path.basename(there) == os.path.basename(tmp)
    for cwd in ("sub", "/work/sub"):
        assert sandbox.run(["sh", "-c", "pwd; ls"], cwd=cwd).text.endswith("/sub\nf\n") or (
            box.name == "gvisor"  # whose statx refuses what ls asks for
        )
    assert sandbox.run(["pwd"]).text.startswith(work)


def _work_of(sandbox: Sandbox) -> str:
    return sandbox.work_path


def test_what_a_run_writes_to_work_the_next_one_and_the_caller_see(sandbox: Sandbox) -> None:
    sandbox.files.write("in.txt", "given")
    assert sandbox.run(["sh", "-c", "cat in.txt; echo made > out.txt"]).text == "given"
    assert sandbox.run(["cat", "out.txt"]).text == "made\n"
    assert sandbox.files.read("out.txt") == b"made\n"


def test_private_work_is_empty_each_time(box: Box) -> None:
    sandbox = box.make(private_work=True)
    assert sandbox.run(["sh", "-c", "echo x > f && cat f"]).text == "x\n"
    assert sandbox.run(["sh", "-c", "echo *"]).text == "*\n"


def test_a_named_work_directory_is_the_host_s_own(box: Box, open_dir: Path) -> None:
    box.make(box.policy(work=str(open_dir))).run(["sh", "-c", "echo kept > f"]).check()
    assert (open_dir / "f").read_text() == "kept\n"


def test_a_read_share_can_be_read_and_not_written(box: Box, open_dir: Path) -> None:
    (open_dir / "f").write_text("shared")
    (open_dir / "f").chmod(0o666)
    at = "/mnt/shared" if box.has_root else str(open_dir)
    sandbox = box.sharing(Share(str(open_dir), at))
    assert sandbox.run(["cat", f"{at}/f"]).text == "shared"
    for script in (f"echo x > {at}/f", f"echo x > {at}/new", f"rm {at}/f"):
        result = sandbox.run(["sh", "-c", script])
        if box.closes:
            assert result.exit_code != 0, script
            assert (open_dir / "f").read_text() == "shared"
            assert not (open_dir / "new").exists()


def test_a_write_share_keeps_what_is_written(box: Box, open_dir: Path) -> None:
    at = "/mnt/shared" if box.has_root else str(open_dir)
    sandbox = box.sharing(Share(str(open_dir), at, True))
    script = f"mkdir {at}/d && echo kept > {at}/d/f && mv {at}/d/f {at}/g"
    sandbox.run(["sh", "-c", script]).check()
    assert (open_dir / "g").read_text() == "kept\n"
    assert (open_dir / "d").is_dir()


def test_a_single_file_can_be_shared(box: Box, open_dir: Path) -> None:
    (open_dir / "one").write_text("first")
    (open_dir / "other").write_text("second")
    at = "/mnt/one" if box.has_root else str(open_dir / "one")
    sandbox = box.sharing(Share(str(open_dir / "one"), at))
    assert sandbox.run(["cat", at]).text == "first"
    if box.closes:
        assert sandbox.run(["cat", str(open_dir / "other")]).exit_code != 0


def test_a_share_below_a_share_has_rights_of_its_own(box: Box, open_dir: Path) -> None:
    (open_dir / "inner").mkdir()
    (open_dir / "inner").chmod(0o777)
    at = "/mnt/shared" if box.has_root else str(open_dir)
    sandbox = box.sharing(
        Share(str(open_dir), at), Share(str(open_dir / "inner"), f"{at}/inner", True)
    )
    assert sandbox.run(["sh", "-c", f"echo x > {at}/inner/f"]).exit_code == 0
    assert (open_dir / "inner" / "f").exists()
    if box.closes:
        assert sandbox.run(["sh", "-c", f"echo x > {at}/f"]).exit_code != 0


def test_a_share_may_stand_in_a_private_place(box: Box, open_dir: Path) -> None:
    if not box.stands("namespace.mount"):
        pytest.skip(f"{box.name} has no private places, and says so")
    (open_dir / "f").write_text("shared")
    sandbox = box.sharing(Share(str(open_dir), "/tmp/deep/place"))
    script = "cat /tmp/deep/place/f && echo x > /tmp/g && echo ok"
    assert sandbox.run(["sh", "-c", script]).text == "sharedok\n"


def test_the_caller_s_umask_does_not_close_the_root(box: Box) -> None:
    before = os.umask(0o077)
    try:
        result = box.make().run(["cat", "/etc/hostname"])
    finally:
        os.umask(before)
    assert result.exit_code == 0


def test_a_share_that_was_replaced_by_a_link_is_refused(box: Box, open_dir: Path) -> None:
    if not box.stands("namespace.mount"):
        pytest.skip(f"{box.name} hides nothing, and says so")
    place, other = open_dir / "place", open_dir / "other"
    for directory in (place, other):
        directory.mkdir()
        directory.chmod(0o777)
    (other / "f").write_text(SECRET)
    sandbox = box.sharing(Share(str(place), "/mnt/place"))
    assert sandbox.run(["cat", "/mnt/place/f"]).exit_code != 0
    place.rmdir()
    place.symlink_to(other)
    with pytest.raises(SandboxError, match="place"):
        sandbox.run(["cat", "/mnt/place/f"])


def test_nothing_else_of_the_host_exists(box: Box, sandbox: Sandbox, open_dir: Path) -> None:
    (open_dir / "unshared").write_text(SECRET)
    seen = sandbox.run(["cat", str(open_dir / "unshared")])
    assert (SECRET in seen.text) is not box.closes
    home = os.path.expanduser("~")
    if box.closes:
        assert sandbox.run(["sh", "-c", f"cat /etc/shadow {home}/.* 2>/dev/null"]).stdout == b""


def test_private_places_take_files_and_keep_them_to_themselves(box: Box, sandbox: Sandbox) -> None:
    if box.is_host:
        pytest.skip("the host's own /tmp is no private place, and it says so")
    places = "/tmp /var/tmp /dev/shm $HOME" if box.has_root else "$TMPDIR /dev/shm $HOME"
    script = f"for d in {places}; do echo x > $d/conformance || echo no $d; done"
    assert sandbox.run(["sh", "-c", script]).text == ""
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        assert not os.path.exists(f"{place}/conformance")
    assert sandbox.run(["sh", "-c", "cat /tmp/conformance"]).exit_code != 0


def test_etc_is_made_of_our_own_files(box: Box, sandbox: Sandbox) -> None:
    if not box.has_root:
        pytest.skip("the host's own /etc is there, and it says so")
    look = (
        "import os, pwd, socket\n"
        "print([p.pw_name for p in pwd.getpwall()], socket.gethostname())\n"
        "print(socket.gethostbyname('localhost'), os.path.isfile('/etc/ssl/openssl.cnf'))"
    )
    shown = sandbox.run([PYTHON, "-c", look]).text.splitlines()
    assert shown[0] == "['root', 'user', 'nobody'] wardian"
    assert shown[1].startswith("127.0.0.1")


def test_devices_that_every_program_needs_are_there(sandbox: Sandbox) -> None:
    script = (
        "head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; echo x > /dev/null;"
        " cat /dev/null; echo y > /dev/full || echo full"
    )
    assert sandbox.run(["sh", "-c", script]).text.split() == ["4", "4", "full"]


def test_another_root_file_system_takes_the_host_s_place(box: Box, open_dir: Path) -> None:
    if box.is_host:
        pytest.skip("without a sandbox there is no other root")
    if not box.has_root:
        with pytest.raises(ShareError, match="no root but the host's own"):
            box.make(box.policy(rootfs=str(open_dir))).run(["/bin/hello"])
        return
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    (open_dir / "bin").mkdir()
    source = open_dir / "hello.c"
    source.write_text(
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n"
        '    printf("%d %d\\n", access("/usr/bin/env", 0), access("/etc/passwd", 0));\n}\n'
    )
    command = ["cc", "-static", "-o", str(open_dir / "bin" / "hello"), str(source)]
    subprocess.run(command, check=True)
    result = box.make(box.policy(rootfs=str(open_dir))).run(["/bin/hello"])
    assert result.text == "-1 0\n"


def test_as_root_the_guest_has_no_rights_of_root_s(box: Box, open_dir: Path, as_root: bool) -> None:
    """What only root may read is refused at once, or can't be read; given up by name, it can."""
    if not as_root or box.is_host or box.name == "wardian":
        pytest.skip("for backends that can't map a share's owner, started by root")
    closed = open_dir / "closed"
    closed.mkdir(mode=0o700)
    (closed / "f").write_text(SECRET)
    share = Share(str(closed), "/mnt/closed")
    with pytest.raises(WallError, match="identity") as caught:
        box.sharing(share).run(["cat", "/mnt/closed/f"])
    assert "--degrade identity" in (caught.value.hint or "")
    (open_dir / "f").write_text(SECRET)
    (open_dir / "f").chmod(0o600)
    outer = box.sharing(Share(str(open_dir), "/mnt/open"))
    assert outer.run(["cat", "/mnt/open/f"]).stdout == b""
    if box.name == "landlock":  # where root's guest is never root
        with pytest.raises(UsageError, match="identity can't be given up"):
            box.make(box.policy(degrade=("identity",)).with_shares([share])).run(["true"])
        return
    weaker = box.policy(degrade=("identity",)).with_shares([share])
    result = box.make(weaker).run(["cat", "/mnt/closed/f"])
    assert result.text == SECRET
    assert not next(p for p in result.protections if p.name == "identity").enforced
