"""Which program a command starts, and its digest."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from wardian import Policy
from wardian.observe.evidence import file_digest, program_evidence
from wardian.sandbox.policy.policy import Share

DEFAULT = Policy.default()


def test_a_file_has_the_digest_that_sha256sum_prints(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert file_digest(str(tmp_path / "f")) == f"sha256:{hashlib.sha256(b'abc').hexdigest()}"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        file_digest(str(tmp_path / "pipe"))


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A program outside of every root."""
    shutil.copy("/bin/true", tmp_path / "tool")
    return tmp_path / "tool"


def test_a_program_is_found_as_the_run_will_find_it(tool: Path) -> None:
    folder = str(tool.parent)
    shared = DEFAULT.with_shares([Share(folder, "/mnt/tools")])
    worked = DEFAULT.but(work=folder)
    by_path = shared.with_env({"PATH": "/mnt/tools:/usr/bin"})
    real = os.path.realpath(tool)
    for command, policy, cwd in (
        ("/mnt/tools/tool", shared, None),
        ("./tool", shared, "/mnt/tools"),
        ("./tool", worked, None),
        ("/work/tool", worked, None),
        ("tool", by_path, None),
    ):
        assert program_evidence(command, policy, backend="wardian", cwd=cwd).path == real
    true = os.path.realpath("/usr/bin/true")
    assert program_evidence("true", DEFAULT, backend="wardian").path == true
    assert program_evidence("true", by_path, backend="wardian").path == true
    assert program_evidence("true", DEFAULT, backend="host").digest == file_digest(true)


def test_a_program_in_another_root_is_found_by_the_links_in_there(
    tool: Path, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    (root / "usr/bin").mkdir(parents=True)
    tool.rename(root / "usr/bin/tool3")
    (root / "usr/bin/tool").symlink_to("/usr/bin/tool2")
    (root / "usr/bin/tool2").symlink_to("../../../../bin/tool3")
    (root / "bin").symlink_to("usr/bin")
    policy = DEFAULT.but(rootfs=str(root))
    for command in ("tool", "/bin/tool", "/usr/bin/tool2"):
        found = program_evidence(command, policy, backend="wardian")
        assert found.path == str(root / "usr/bin/tool3")
        assert found.digest == file_digest(found.path)


def test_what_is_not_known_is_not_made_up(tool: Path, tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("/circle")
    for command, policy in (
        ("./tool", DEFAULT),
        ("no-such-program", DEFAULT),
        ("/etc/shadow", DEFAULT),
        ("/nothing", DEFAULT.but(rootfs=str(tmp_path))),
        ("/circle", DEFAULT.but(rootfs=str(tmp_path))),
    ):
        found = program_evidence(command, policy, backend="wardian")
        assert (found.path, found.digest) == (None, None)
        assert found.why
