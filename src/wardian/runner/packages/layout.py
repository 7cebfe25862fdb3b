"""Where the files of a wheel belong in an environment, as pip places them. Pure."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from wardian.runner.packages.model import PreparationError
from wardian.text import printable

MAX_DEPTH = 64
NAME_BYTES, PATH_BYTES = 255, 1024
SHEBANG_BYTES = 127  # what every kernel reads of a first line
_INFO = ".dist-info"
_PROGRAM = re.compile(r"[^\W_](?:[\w.+ -]*[\w.+-])?")
_TARGET = re.compile(r"(?P<module>\w+(\.\w+)*)\s*:\s*(?P<function>\w+(\.\w+)*)\s*(\[.*\])?")
_SCRIPT = """{shebang}
import sys
from {module} import {name}
if __name__ == "__main__":
    sys.argv[0] = sys.argv[0].removesuffix(".exe") if sys.version_info > (3, 9) else sys.argv[0]
    sys.exit({function}())
"""


class StoredFile(NamedTuple):
    """A file of an unpacked wheel; the last two show whether it was changed since."""

    name: str
    executable: bool
    size: int
    changed_ns: int = 0


class Wheel(NamedTuple):
    """What a wheel holds, and the programs that it wants to have."""

    digest: str
    filename: str
    files: tuple[StoredFile, ...]
    entry_points: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The package's, as it is compared."""
        from packaging.utils import canonicalize_name

        return canonicalize_name(self.filename.partition("-")[0])

    @property
    def info(self) -> str:
        """Its directory of metadata. Raises PreparationError unless it has one, of its name."""
        from packaging.utils import canonicalize_name

        names = {file.name.partition("/")[0] for file in self.files if "/" in file.name}
        found = [name for name in names if name.endswith(_INFO)]
        if len(found) != 1 or canonicalize_name(found[0].partition("-")[0]) != self.name:
            raise refused(self.filename, "has no metadata of its own name")
        return found[0]


class PlacedFile(NamedTuple):
    """A file of a wheel and its place in the environment; a ``script`` has a line to be changed."""

    file: StoredFile
    place: str
    script: bool = False


def refused(wheel: str, why: str) -> PreparationError:
    """A wheel that can't be used."""
    return PreparationError(
        f"{printable(wheel)} {why}; nothing of it was installed",
        hint="the wheel is malformed: choose another version, or remove the package",
    )


def name_fault(name: str) -> str | None:
    """Why a file of a wheel can't have this name, or None."""
    parts = name.split("/")
    if name.startswith("/"):
        return "has an absolute path in it"
    if any(part in ("", ".", "..") for part in parts):
        return "has a path in it that leads elsewhere"
    if "\0" in name or len(os.fsencode(name)) > PATH_BYTES or len(parts) > MAX_DEPTH:
        return "has a name in it that is too long or too deep"
    if any(len(os.fsencode(part)) > NAME_BYTES for part in parts):
        return "has a name in it that is too long or too deep"
    return None


def placed(wheel: Wheel, python: str) -> Iterator[PlacedFile]:
    """Where each file goes; ``python`` is its version as directories are named, python3.11.

    Raises PreparationError for what no wheel should have.
    """
    info = wheel.info
    data = f"{info.removesuffix(_INFO)}.data/"
    site = f"lib/{python}/site-packages"
    headers = f"include/site/{python}/{info.partition('-')[0]}"
    roots = {"purelib": site, "platlib": site, "scripts": "bin", "headers": headers, "data": ""}
    for file in wheel.files:
        if file.name in (f"{info}/RECORD", f"{info}/INSTALLER"):
            continue  # written anew
        if not file.name.startswith(data):
            yield PlacedFile(file, f"{site}/{file.name}")
            continue
        kind, _, rest = file.name[len(data) :].partition("/")
        if kind not in roots or not rest:
            raise refused(wheel.filename, f"has data of an unknown kind, {printable(kind)!r}")
        place = f"{roots[kind]}/{rest}" if roots[kind] else rest
        if place.startswith("lib64/"):  # a link to lib
            place = place.replace("lib64", "lib", 1)
        yield PlacedFile(file, place, script=kind == "scripts")


def modules_of(wheel: Wheel) -> set[str]:
    """The modules that a wheel brings, at the top."""
    found = {file.name.removesuffix(".py").removesuffix("/__init__") for file in wheel.files
             if file.name.endswith(".py")}  # fmt: skip
    return {name for name in found if name.isidentifier()}


def program(wheel: Wheel, name: str, target: str, python: str) -> str:
    """The text of the program for an entry point. Raises PreparationError for an odd one."""
    found = _TARGET.fullmatch(target.strip())
    if found is None or not _PROGRAM.fullmatch(name) or len(name) > NAME_BYTES:
        raise refused(wheel.filename, f"has an invalid entry point, {printable(name[:60])!r}")
    module, function = found["module"], found["function"]
    first = function.partition(".")[0]
    return _SCRIPT.format(shebang=shebang(python), module=module, name=first, function=function)


def shebang(python: str) -> str:
    """The first lines of a program that this Python is to run, also if its path is long or odd."""
    if len(os.fsencode(python)) + 2 <= SHEBANG_BYTES and not re.search(r"\s", python):
        return f"#!{python}"
    quoted = "'" + python.replace("'", "'\"'\"'") + "'"
    return f"#!/bin/sh\n'''exec' {quoted} \"$0\" \"$@\"\n' '''"


def record(places: Iterable[tuple[str, int]], info: str, python: str) -> str:
    """The wheel's RECORD: the places of its files in the environment, with their sizes."""
    site = f"lib/{python}/site-packages"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for place, size in places:
        inner = place[len(site) + 1 :] if place.startswith(f"{site}/") else f"../../../{place}"
        writer.writerow([inner, "", size])
    writer.writerow([f"{info}/RECORD", "", ""])
    return text.getvalue()
