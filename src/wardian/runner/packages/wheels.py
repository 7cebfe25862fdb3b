"""Wheels, unpacked once and kept by the hash of their archive. The archive is read in a sandbox
that can write nowhere; what it prints, wardian writes to a directory of its own and publishes."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from wardian.descriptors import FOLDER, NEW_FILE, write_all
from wardian.runner.packages import cabinet
from wardian.runner.packages.contents import MAX_ENTRIES
from wardian.runner.packages.layout import StoredFile, Wheel, name_fault, refused
from wardian.runner.packages.model import Archive, Preparation, PreparationError
from wardian.runner.packages.rooms import reading
from wardian.runner.packages.tools import Tools
from wardian.text import printable

WHEELS = "wheels"
HEADER_BYTES = 4 << 20
UNPACKED_BYTES = 32 << 30
AT_ONCE = 4


def unpacked(job: Preparation, tools: Tools, archives: Sequence[Archive]) -> list[Wheel]:
    """All of them, unpacked now or before. Raises PreparationError."""
    with ThreadPoolExecutor(min(AT_ONCE, os.cpu_count() or 1)) as pool:
        largest = sorted(archives, key=lambda one: -os.stat(one.path).st_size)
        made = dict(zip(largest, pool.map(lambda one: _one(job, tools, one), largest), strict=True))
    return [made[archive] for archive in archives]


def _one(job: Preparation, tools: Tools, archive: Archive) -> Wheel:
    found = find(archive)
    if found is not None:
        return found
    with cabinet.locked(f"wheel-{archive.digest}", lambda _: None):
        found = find(archive)
        if found is None:
            found = _unpack(job, tools, archive)
        return found


def find(archive: Archive) -> Wheel | None:
    """The wheel if it is there as it was written, else None."""
    about = cabinet.read_record(archive.digest, WHEELS)
    try:
        files = tuple(StoredFile(*one) for one in (about or {})["files"])
        points = tuple((str(a), str(b)) for a, b in (about or {})["entry_points"])
    except (KeyError, TypeError, ValueError):
        return None
    cabinet.used(archive.digest, WHEELS)
    return Wheel(archive.digest, archive.filename, files, points)


def _unpack(job: Preparation, tools: Tools, archive: Archive) -> Wheel:
    from wardian.sandbox.sandbox import Sandbox

    place = os.path.join(job.scratch, f"wheel-{archive.digest}")
    cabinet.discard(place)
    os.mkdir(place, 0o755)
    root = os.open(place, FOLDER)
    printed: list[bytes] = []
    try:
        os.fchmod(root, 0o755)
        receiver = Receiver(root, archive.filename)
        room = reading(archive.path, archive.filename, tools.reading)
        command = [*tools.program("unpack"), f"{room.cwd}/{archive.filename}"]
        with Sandbox(room.policy, private_work=True) as sandbox:
            result = sandbox.run(command, on_stdout=receiver.take, on_stderr=printed.append)
        receiver.refuse_fault()
        if result.exit_code != 0:
            text = b"".join(printed).decode("utf-8", "replace").strip()
            raise refused(archive.filename, f"can't be unpacked ({printable(text[-200:])})")
        wheel = receiver.wheel(archive)
    finally:
        os.close(root)
    _publish(place, wheel)
    return wheel


def _publish(place: str, wheel: Wheel) -> None:
    cabinet.forget(wheel.digest, WHEELS)
    cabinet.discard(cabinet.path_of(WHEELS, wheel.digest))
    with cabinet.drawer(WHEELS) as folder:
        os.rename(place, wheel.digest, dst_dir_fd=folder)
    about = {"filename": wheel.filename, "files": wheel.files, "entry_points": wheel.entry_points}
    cabinet.write_record(wheel.digest, about, WHEELS)


class Receiver:
    """Writes the files that ``inside/unpack.py`` prints, below one directory. The names, the kinds
    and the modes are decided here, whatever the sandbox prints."""

    def __init__(self, root: int, filename: str) -> None:
        self._root, self._filename = root, filename
        self._pending = bytearray()  # of a header that has not ended
        self._fd, self._left, self._total = -1, 0, 0
        self._files: dict[str, StoredFile] = {}
        self._folders: set[str] = {""}
        self._points: tuple[tuple[str, str], ...] | None = None
        self._fault: PreparationError | None = None

    def take(self, piece: bytes) -> None:
        """What was printed, as it comes. After a fault the rest is passed over."""
        if self._fault is None:
            try:
                self._take(memoryview(piece))
            except PreparationError as error:
                self._fault = error
            except OSError as error:
                self._fault = PreparationError(
                    f"{printable(self._filename)} can't be unpacked: {error.strerror}"
                )

    def refuse_fault(self) -> None:
        """Raises PreparationError for what could not be taken."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        if self._fault is not None:
            raise self._fault

    def complete(self) -> list[str]:
        """The names of the files that came to their end."""
        return [name for name, file in self._files.items() if file.changed_ns]

    def wheel(self, archive: Archive) -> Wheel:
        """What was written. Raises PreparationError if it is not whole."""
        if self._left or self._pending or self._points is None:
            raise self._refused("was not unpacked to its end")
        found = Wheel(archive.digest, archive.filename, tuple(self._files.values()), self._points)
        _ = found.info  # refused without
        return found

    def _refused(self, why: str) -> PreparationError:
        return refused(self._filename, why)

    def _take(self, piece: memoryview) -> None:
        at = 0
        while at < len(piece):
            if self._left:
                part = piece[at : at + self._left]
                write_all(self._fd, part)  # type: ignore[arg-type]
                self._left -= len(part)
                at += len(part)
                if not self._left:
                    self._close()
                continue
            end = bytes(piece[at : at + 4096]).find(b"\n")
            stop = at + end + 1 if end >= 0 else min(at + 4096, len(piece))
            self._pending += piece[at:stop]
            at = stop
            if len(self._pending) > HEADER_BYTES:
                raise self._refused("can't be unpacked")
            if end >= 0:
                line, self._pending = bytes(self._pending), bytearray()
                self._begin(line)

    def _begin(self, line: bytes) -> None:
        try:
            about: Any = json.loads(line)
            if self._points is None:
                points = about["entry_points"]
                self._points = tuple((str(name), str(target)) for name, target in points)
                return
            name, mode, size = str(about[0]), int(about[1]), int(about[2])
            os.fsencode(name)
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            raise self._refused("can't be unpacked") from None
        self._open(name, mode, size)

    def _open(self, name: str, mode: int, size: int) -> None:
        why = name_fault(name)
        if why:
            raise self._refused(why)
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise self._refused("has a link or a device in it")
        self._total += size
        if size < 0 or self._total > UNPACKED_BYTES or len(self._files) >= MAX_ENTRIES:
            raise self._refused("holds more than can be unpacked")
        executable = bool(mode & 0o111) or ".data/scripts/" in name
        try:
            self._fd = self._new_file(name, 0o755 if executable else 0o644)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise self._refused("has two files of one name in it") from None
        self._files[name] = StoredFile(name, executable, size)
        self._left = size
        if not size:
            self._close()

    def _new_file(self, name: str, mode: int) -> int:
        parts = name.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if folder not in self._folders:
                cabinet.make_readable(folder, self._root)
                self._folders.add(folder)
        return os.open(name, NEW_FILE, mode, dir_fd=self._root)

    def _close(self) -> None:
        name, last = next(reversed(self._files.items()))
        about, mode = os.fstat(self._fd), 0o755 if last.executable else 0o644
        if stat.S_IMODE(about.st_mode) != mode:
            os.fchmod(self._fd, mode)  # the umask left less
        self._files[name] = last._replace(changed_ns=about.st_mtime_ns)
        os.close(self._fd)
        self._fd = -1
