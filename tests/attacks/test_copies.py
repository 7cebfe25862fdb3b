"""A share as a copy: the guest changes what it sees, and neither what is shared nor anything that
the share's author names in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.attacks.attack import py
from tests.attacks.callers import NAMES, NO_WALLS, ROOT, Caller

SECRET = "what-lies-outside"
CHANGES = (
    "cd /copy; echo more >> file; echo new > made; rm -r folder/inner; mv file moved; "
    "chmod 600 moved; ln moved hard; mkdir folder/inner folder/other; cat moved hard && echo fine"
)


@pytest.fixture
def lower(caller: Caller) -> Path:
    """A tree of the caller's, to be shared as a copy."""
    top = caller.directory()
    (top / "folder" / "inner").mkdir(parents=True)
    (top / "file").write_text("first\n")
    (top / "folder" / "inner" / "deep").write_text("deep\n")
    for path in top.rglob("*"):
        os.chown(path, caller.uid, caller.gid)
    return top


def seen(top: Path) -> dict[str, tuple[int, str]]:
    return {
        str(path.relative_to(top)): (
            path.stat().st_mode,
            path.read_text() if path.is_file() else "",
        )
        for path in sorted(top.rglob("*"))
    }


@pytest.mark.parametrize("caller", NAMES, indirect=True)
@pytest.mark.parametrize("without", [(), ("readonly",), ("landlock",), ("readonly", "landlock")])
def test_what_is_shared_as_a_copy_stays_as_it_is(
    caller: Caller, lower: Path, without: tuple[str, ...]
) -> None:
    """The overlay holds it alone; a share for writing, for comparison, changes."""
    before = seen(lower)
    outcome = caller.run(CHANGES, shares=[(str(lower), "/copy", False, True)], without=without)
    assert "first\nmore\nfirst\nmore\nfine" in outcome.stdout, outcome
    assert seen(lower) == before
    caller.run(CHANGES, shares=[(str(lower), "/copy", True)])
    assert seen(lower) != before


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_where_no_copy_can_be_had_the_share_is_read_only(caller: Caller, lower: Path) -> None:
    """Without a /proc, there is no place to hide the layers in."""
    before = seen(lower)
    shares = [(str(lower), "/copy", False, True)]
    outcome = caller.run("cat /copy/file; echo x > /copy/made", shares=shares, degrade=["proc"])
    assert (outcome.stdout, outcome.exit_code) == ("first\n", 2), outcome
    assert "Read-only file system" in outcome.text
    assert seen(lower) == before


@pytest.mark.skipif(not ROOT, reason="only root can make files of another user's")
@pytest.mark.parametrize("caller", ["user"], indirect=True)
def test_a_directory_of_anothers_is_read_only(caller: Caller, lower: Path) -> None:
    """The kernel could not give a copied file its owner: all of it would fail with EOVERFLOW."""
    for path in (lower, *lower.rglob("*")):
        os.chown(path, 0, 0)
        path.chmod(0o755)
    outcome = caller.run(
        "cat /copy/file; echo x > /copy/folder/new", shares=[(str(lower), "/copy", False, True)]
    )
    assert (outcome.stdout, outcome.exit_code) == ("first\n", 2), outcome
    assert "Read-only file system" in outcome.text


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_the_layer_vanishes_with_the_run(caller: Caller, lower: Path) -> None:
    shares = [(str(lower), "/copy", False, True)]
    caller.run("echo first > /copy/made", shares=shares)
    assert "made" not in caller.run("ls /copy", shares=shares).stdout


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_nothing_of_the_layers_is_in_sight(caller: Caller, lower: Path) -> None:
    """Whoever could write to the upper layer itself could leave marks for the overlay in it. It
    lies where the guest's /proc covers it; the copy itself shows what was written."""
    code = (
        "import os\n"
        "open('/copy/made-here', 'w').close()\n"
        "for top in ('/', '/proc/1/root', '/proc/self/root'):\n"
        "    for folder, names, files in os.walk(top):\n"
        "        if folder.count('/') > 6: names.clear()\n"
        "        if 'made-here' in files: print(folder)\n"
    )
    outcome = caller.run(py(code), shares=[(str(lower), "/copy", False, True)])
    found = {line.removeprefix("/proc/self/root") for line in outcome.stdout.splitlines()}
    assert found == {"/copy"}, outcome


MARKS = {
    "redirect": b"/../outside",
    "metacopy": b"",
    "opaque": b"y",
    "origin": b"\0\xfb\x1d\0\0",
}


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_marks_in_the_share_lead_nowhere(caller: Caller, lower: Path) -> None:
    """An author may set every mark that overlayfs keeps in attributes of files. A file that claims
    to have its data elsewhere is refused by the kernel; everything else reads as it is."""
    (lower.parent / "outside").mkdir(exist_ok=True)
    (lower.parent / "outside" / "file").write_text(SECRET)
    namespaces = ["user.overlay", *(["trusted.overlay"] if ROOT else [])]
    for path in (lower / "file", lower / "folder"):
        for name in namespaces:
            for mark, value in MARKS.items():
                try:
                    os.setxattr(path, f"{name}.{mark}", value)
                except OSError:
                    pytest.skip("this file system has no attributes of files")
    outcome = caller.run(
        "cat /copy/file /copy/folder/file; ls -R /copy; echo more >> /copy/file; "
        "touch /copy/folder/inner/x; cat /copy/folder/inner/deep && echo fine",
        shares=[(str(lower), "/copy", False, True)],
    )
    assert SECRET not in outcome.text, outcome
    assert "deep\nfine" in outcome.stdout, outcome
    assert SECRET in caller.run(f"cat {lower.parent}/outside/file", without=NO_WALLS).stdout


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_guest_sets_no_marks_and_makes_no_whiteouts(caller: Caller, lower: Path) -> None:
    code = (
        "import os\n"
        "for name in ('redirect', 'opaque', 'metacopy', 'whiteout'):\n"
        "    for space in ('user', 'trusted'):\n"
        "        try: os.setxattr('/copy/folder', f'{space}.overlay.{name}', b'y')\n"
        "        except OSError: pass\n"
        "try: os.mknod('/copy/gone', 0o20600, 0); print('whiteout')\n"
        "except OSError: pass\n"
        "print(sorted(os.listdir('/copy')), sorted(os.listdir('/copy/folder')))\n"
    )
    outcome = caller.run(py(code), shares=[(str(lower), "/copy", False, True)])
    assert outcome.stdout.strip() == "['file', 'folder'] ['inner']", outcome


@pytest.mark.skipif(not ROOT, reason="only root can make a set-user-ID program of root's")
@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_a_set_uid_program_in_a_copy_gives_nothing(caller: Caller, lower: Path) -> None:
    program = lower / "whoami"
    program.write_bytes(Path("/usr/bin/id").read_bytes())
    program.chmod(0o4755)
    shares = [(str(lower), "/copy", False, True)]
    assert caller.run("/copy/whoami -u", shares=shares).text.strip() == "1000"
    assert "nosuid,nodev" in caller.run("grep ' /copy ' /proc/mounts", shares=shares).stdout


@pytest.mark.parametrize("caller", NAMES, indirect=True)
def test_the_disk_limit_holds_in_a_copy_as_in_tmp(caller: Caller, lower: Path) -> None:
    copy, private = (
        caller.run(
            f"cd {place}; head -c 4M /dev/zero > a && echo fine; head -c 40M /dev/zero > b",
            shares=[(str(lower), "/copy", False, True)],
            limits={"disk_bytes": 16 << 20},
        )
        for place in ("/copy", "/tmp")
    )
    assert "fine" in copy.stdout, copy
    assert (copy.exit_code, copy.reason) == (private.exit_code, private.reason)
    assert copy.exit_code != 0
    assert copy.refused == private.refused
