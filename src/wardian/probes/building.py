"""Specimens in C: compiled once, kept by content. Their sources are ours, or the caller's own."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence

from wardian.errors import WardianError
from wardian.probes.specimen import Specimen, shipped
from wardian.runner.state import home

FLAGS = ("-std=c17", "-Wall", "-Wextra", "-O1", "-D_GNU_SOURCE", "-pthread")
LIBRARIES = ("-ldl", "-lrt")
HELPERS = ("_runner_c.c", "_runner_c.h", "_runner_fuzz.h")
COMPILE_S = 120


class BuildError(WardianError):
    """The compiler refused a specimen."""


def compiler() -> str | None:
    """The C compiler, or None if there is none."""
    return shutil.which(os.environ.get("CC") or "cc")


def built(specimen: Specimen) -> str:
    """The executable of a specimen, compiled now if its content is new. Raises BuildError."""
    cc = compiler()
    if cc is None:
        raise BuildError("no C compiler is installed")
    helper = next((d for d in _helper_dirs(specimen) if _has_helpers(d)), None)
    if helper is None:
        raise BuildError(f"{HELPERS[0]} is not there")
    headers = [os.path.join(helper, name) for name in HELPERS[1:]]
    runner = os.path.join(helper, HELPERS[0])
    flags = (*FLAGS, f"-I{helper}")
    # The helper is the same for all, and larger than most: it is compiled once.
    ready = compiled(cc, (*flags, "-c", runner), [runner, *headers], FLAGS)
    # __FILE__ names the specimen, so that it knows its ID when it is run alone.
    words = (*flags, specimen.path, ready, *LIBRARIES)
    made_of = (FLAGS, LIBRARIES, os.path.basename(ready))
    return compiled(cc, words, [specimen.source, *headers], made_of, specimen.root)


def compiled(
    cc: str, words: Sequence[str], sources: Sequence[str], flags: object, cwd: str | None = None
) -> str:
    """What the compiler makes of ``words``, kept by the content of the sources and the flags.

    Raises BuildError.
    """
    place = os.path.join(home("XDG_CACHE_HOME", ".cache"), "probes", _digest(cc, sources, flags))
    if os.path.exists(place):
        return place
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
    except OSError as error:
        why = (error.strerror or "").lower()
        raise BuildError(f"compiled specimens can't be kept in {error.filename}: {why}") from None
    temporary = f"{place}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        done = subprocess.run(
            [cc, "-o", temporary, *words], capture_output=True, text=True, errors="replace",
            timeout=COMPILE_S, check=False, cwd=cwd, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if done.returncode != 0:
            raise BuildError(f"it does not compile: {_first_error(done.stderr)}")
        os.replace(temporary, place)
    except subprocess.TimeoutExpired:
        raise BuildError(f"the compiler did not end in {COMPILE_S} s") from None
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
    return place


def _helper_dirs(specimen: Specimen) -> tuple[str, str]:
    return specimen.root, os.path.realpath(shipped("probes"))


def _has_helpers(directory: str) -> bool:
    return all(os.path.exists(os.path.join(directory, name)) for name in HELPERS)


def _digest(cc: str, sources: Sequence[str], flags: object) -> str:
    hashed = hashlib.sha256(repr((cc, platform.machine(), flags)).encode())
    for source in sources:
        with open(source, "rb") as file:
            hashed.update(hashlib.sha256(file.read()).digest())
    return hashed.hexdigest()[:32]


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or ["?"]
    return lines[0].strip()[:300]
