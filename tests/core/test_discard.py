"""What the launcher removes after a killed caller, whatever names in it become."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

CORE = Path(__file__).parent.parent.parent / "core"


def test_no_mode_changes_outside_when_names_become_links(tmp_path: Path) -> None:
    program, victim = tmp_path / "race", tmp_path / "victim"
    victim.write_text("the host's")
    victim.chmod(0o604)
    sources = [Path(__file__).parent / "discard_race.c", CORE / "discard.c", CORE / "directory.c"]
    command = ["cc", "-std=gnu17", "-O1", "-Wall", "-Werror", f"-I{CORE}", "-Wl,--wrap=unlinkat"]
    subprocess.run([*command, "-o", program, *sources], check=True)
    done = subprocess.run(
        [program, tmp_path / "work", victim], capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, "the directory is still there"
    assert int(done.stdout) >= 8
    assert stat.S_IMODE(victim.stat().st_mode) == 0o604
    assert victim.read_text() == "the host's"
