"""Print what a wheel holds: ``unpack.py WHEEL``. It writes no file; whoever reads this does.

For each file a line of JSON, ``[name, mode, size]``, and then its bytes; first of all a line
``{"entry_points": [[name, target], …]}``. Where this runs there is no network, and no directory of
the host to write to.
"""

from __future__ import annotations

import configparser
import email.parser
import json
import sys
import zipfile
from typing import Any

PIECE = 1 << 22
TEXT_BYTES = 4 << 20


def main(path: str) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            refuse_newer(archive)
            emit({"entry_points": entry_points(archive)})
            for member in archive.infolist():
                if not member.is_dir():
                    print_file(archive, member)
    except (zipfile.BadZipFile, configparser.Error, ValueError, RuntimeError, EOFError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    except NotImplementedError as error:
        print(error, file=sys.stderr)
        return 1
    sys.stdout.buffer.flush()
    return 0


def emit(what: Any) -> None:
    sys.stdout.buffer.write(json.dumps(what).encode() + b"\n")


def print_file(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    emit([member.filename, member.external_attr >> 16, member.file_size])
    left = member.file_size
    with archive.open(member) as file:
        while left:
            piece = file.read(min(left, PIECE))
            if not piece:
                raise EOFError(f"{member.filename} ends too early")
            left -= len(piece)
            sys.stdout.buffer.write(piece)


def in_info(archive: zipfile.ZipFile, name: str) -> str | None:
    """The text of a file of the wheel's metadata."""
    for member in archive.infolist():
        folder, _, last = member.filename.partition("/")
        if last == name and folder.endswith(".dist-info"):
            with archive.open(member) as file:
                return file.read(TEXT_BYTES).decode("utf-8")
    return None


def refuse_newer(archive: zipfile.ZipFile) -> None:
    text = in_info(archive, "WHEEL")
    if text is None:
        raise ValueError("it has no WHEEL file")
    version = email.parser.Parser().parsestr(text, headersonly=True).get("Wheel-Version", "")
    if version.partition(".")[0].strip() != "1":
        raise ValueError(f"its format is of version {version.strip()!r}, which is not known")


def entry_points(archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """The programs that are to start a function of the package."""
    parser = configparser.RawConfigParser(delimiters=("=",), strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(in_info(archive, "entry_points.txt") or "")
    kinds = [kind for kind in ("console_scripts", "gui_scripts") if parser.has_section(kind)]
    return [pair for kind in kinds for pair in parser.items(kind)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
