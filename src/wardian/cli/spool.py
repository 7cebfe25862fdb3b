"""Captured guest output for ``--json``: kept in unnamed files, not in memory, and copied into the
document piece by piece. 64 MiB of output can be 400 MB once escaped."""

from __future__ import annotations

import codecs
import os
import sys

from wardian.errors import BackendError

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

NAMES = ("stdout", "stderr")
ROOM = 160 << 20  # both streams at the default limit, with some to spare
_CHUNK = 3 << 16  # a multiple of three: pieces of base64 then need no padding


class Spool:
    """Standard output and standard error of one run. Close it, or use ``with``."""

    def __init__(self) -> None:
        """Raises BackendError."""
        self.fds: list[int] = []
        try:
            self.fds += [_file_without_a_name(name) for name in NAMES]
        except OSError as error:
            self.close()
            raise BackendError(
                f"cannot capture output: {(error.strerror or '').lower()}",
                hint="run without --json, or raise the limit of open files: ulimit -n",
            ) from None

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close and thereby delete the files."""
        while self.fds:
            os.close(self.fds.pop())

    def pieces(self, stream: int) -> Iterator[bytes]:
        """The bytes of stream 0 or 1."""
        at = 0
        while piece := os.pread(self.fds[stream], _CHUNK, at):
            yield piece
            at += len(piece)

    def beginning(self, most: int) -> tuple[bytes, bytes]:
        """At most ``most`` bytes of each stream."""
        stdout, stderr = (os.pread(fd, most, 0) for fd in self.fds)
        return stdout, stderr

    def is_text(self, stream: int) -> bool:
        """Whether the stream is valid UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for piece in self.pieces(stream):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True

    def text(self, stream: int) -> Iterator[str]:
        """The stream as text, with replacement characters for invalid UTF-8."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for piece in self.pieces(stream):
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)


def _file_without_a_name(name: str) -> int:
    """An unnamed file on disk, or in memory if the disk is full."""
    base = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - nothing in it gets a name
    try:
        room = os.statvfs(base)
        if room.f_bavail * room.f_frsize < ROOM:
            return os.memfd_create(name, os.MFD_CLOEXEC)
        return os.open(base, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        return os.memfd_create(name, os.MFD_CLOEXEC)


class SpooledDocument:
    """Writes a document with spooled output in pieces."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._mark = f"spooled-{os.urandom(16).hex()}-"

    def fields(self) -> dict[str, str]:
        """Placeholders for the output, replaced when the document is written."""
        fields = {name: f"{self._mark}{name}" for name in NAMES}
        for i, name in enumerate(NAMES):
            if not self._spool.is_text(i):
                fields[f"{name}_base64"] = f"{self._mark}{name}_base64"
        return fields

    def write(self, document: dict[str, Any], write: Callable[[str], object]) -> None:
        """Write the same text as ``json.dumps(document, indent=2)``, and a newline."""
        import json

        left = json.dumps(document, indent=2) + "\n"
        while self._mark in left:
            before, _, left = left.partition(f'"{self._mark}')
            name, _, left = left.partition('"')
            write(before + '"')
            for piece in self._pieces(name):
                write(piece)
            left = '"' + left
        write(left)

    def _pieces(self, name: str) -> Iterator[str]:
        stream = NAMES.index(name.removesuffix("_base64"))
        if name.endswith("_base64"):
            from base64 import b64encode

            for piece in self._spool.pieces(stream):
                yield b64encode(piece).decode("ascii")
        else:
            import json

            for text in self._spool.text(stream):
                yield json.dumps(text)[1:-1]


def print_json(document: dict[str, Any], within: SpooledDocument | None) -> None:
    """Print the document on stdout, ASCII-only in every locale."""
    if within is None:
        from wardian.cli import output

        output.print_json(document)
    else:
        within.write(document, sys.stdout.write)
