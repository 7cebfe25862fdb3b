"""The launcher's parts hold under AddressSanitizer and UBSan (core/check.c)."""

from __future__ import annotations

import subprocess

from .conftest import Build


def test_the_parts_pass_their_checks(build: Build) -> None:
    done = subprocess.run(
        [build("check")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "checks passed" in done.stdout


def test_the_launcher_by_hand_says_what_it_is_for(build: Build) -> None:
    launcher = build("wardian-launch")
    shown = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("wardian-launch ")
    bare = subprocess.run(launcher, capture_output=True, text=True, timeout=10, check=False)
    assert bare.returncode == 125
    assert "wardian exec --help" in bare.stderr
