"""The launcher's parsers under libFuzzer for a minute in all; without clang, over their corpora."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import CORE, Build

pytestmark = pytest.mark.long

HARNESSES = ("plan", "command", "notification", "fuse", "dns", "verdict", "text", "libc")
SECONDS = 8  # each
CORPUS = CORE / "fuzz" / "corpus"
MOST_BYTES = 50_000


def fuzzer_missing() -> str | None:
    clang = shutil.which("clang")
    if clang is None:
        return "clang is not installed"
    asked = [clang, "-print-file-name=libclang_rt.fuzzer-x86_64.a"]
    library = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    where = [clang, "-print-runtime-dir"]
    runtime = subprocess.run(where, capture_output=True, text=True, check=False).stdout.strip()
    if Path(library).is_absolute() or any(Path(runtime).glob("libclang_rt.fuzzer*")):
        return None
    return "clang's fuzzer runtime (libclang-rt-dev) is not installed"


@pytest.mark.parametrize("name", HARNESSES)
def test_some_seconds_of_fuzzing_find_nothing(name: str, build: Build, tmp_path: Path) -> None:
    if missing := fuzzer_missing():
        pytest.skip(missing)
    options = [f"-max_total_time={SECONDS}", "-timeout=10", "-rss_limit_mb=1024", "-verbosity=0"]
    options += ["-print_final_stats=1", f"-artifact_prefix={tmp_path}/"]
    (tmp_path / "found").mkdir()
    done = subprocess.run(
        [build(f"fuzz-{name}"), *options, tmp_path / "found", CORPUS / name],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    assert executed
    assert int(executed[1]) > 100


@pytest.mark.parametrize("name", HARNESSES)
def test_the_corpus_is_replayed_under_the_sanitizers(name: str, build: Build) -> None:
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs
    assert sum(one.stat().st_size for one in inputs) < MOST_BYTES
    done = subprocess.run(
        [build(f"replay-{name}"), *inputs], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{len(inputs)} replayed\n"), done.stderr


def test_every_harness_is_run_here() -> None:
    written = {path.stem for path in (CORE / "fuzz").glob("*.c")} - {"replay"}
    assert written == set(HARNESSES)
