"""An environment from unpacked wheels, by hard links. Only wardian writes here: no sandbox can
ever write to an environment or to the store, which share their files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from wardian.descriptors import FILE, FOLDER, NEW_FILE, read_regular, write_all
from wardian.runner.packages import cabinet, venv
from wardian.runner.packages.layout import (
    PlacedFile,
    Wheel,
    placed,
    program,
    record,
    refused,
    shebang,
)
from wardian.runner.packages.model import PreparationError
from wardian.runner.packages.wheels import WHEELS

_WRITTEN = "#!python"  # the first line of a script that wants its environment's Python


class ChangedWheelError(PreparationError):
    """An unpacked wheel is not as it was written; ``digest`` names it."""

    def __init__(self, digest: str) -> None:
        super().__init__("an unpacked package was changed in the cache")
        self.digest = digest


def fill(path: str, base: venv.BasePython, wheels: Sequence[Wheel]) -> None:
    """Put wheels into an environment that ``venv.make`` wrote. Of two files with one place the
    later wheel's counts, as with pip. Raises PreparationError."""
    root = os.open(path, FOLDER)
    try:
        with cabinet.drawer(WHEELS) as store:
            for wheel in wheels:
                _Filling(root, store, path, base, wheel).run()
    finally:
        os.close(root)


class _Filling:
    """One wheel on its way into one environment."""

    def __init__(
        self, root: int, store: int, path: str, base: venv.BasePython, wheel: Wheel
    ) -> None:
        self._root, self._store, self._wheel, self._base = root, store, wheel, base
        self._python = os.path.join(path, "bin/python")
        self._own = {*venv.links(base), "pyvenv.cfg"}
        self._folders = {"", "bin", "lib", "include"}
        self._places: dict[str, int] = {}

    def run(self) -> None:
        for one in placed(self._wheel, self._base.named):
            source = f"{self._wheel.digest}/{one.file.name}"
            self._refuse_changed(one, source)
            self._make_room(one.place)
            if not (one.script and self._rewritten(one, source)):
                self._link(one, source)
        for name, target in self._wheel.entry_points:
            text = program(self._wheel, name, target, self._python)
            self._write(f"bin/{name}", text.encode("utf-8", "surrogateescape"), 0o755)
        info = self._wheel.info
        site = f"lib/{self._base.named}/site-packages"
        self._write(f"{site}/{info}/INSTALLER", b"wardian\n", 0o644)
        text = record(self._places.items(), info, self._base.named)
        self._write(f"{site}/{info}/RECORD", text.encode("utf-8", "surrogateescape"), 0o644)

    def _make_room(self, place: str) -> None:
        """The directories on the way. Raises PreparationError for a part of the environment."""
        if place in self._own:
            raise venv.replaced(place)
        folder = place.rpartition("/")[0]
        if folder in self._folders:
            return
        for one in self._own:
            if f"{folder}/".startswith(f"{one}/"):
                raise venv.replaced(one)
        parts = folder.split("/")
        for depth in range(1, len(parts) + 1):
            inner = "/".join(parts[:depth])
            if inner not in self._folders:
                try:
                    cabinet.make_readable(inner, self._root)
                except FileExistsError:
                    pass
                self._folders.add(inner)

    def _refuse_changed(self, one: PlacedFile, source: str) -> None:
        """Raises ChangedWheelError unless the stored file is the one that was written."""
        try:
            about = os.stat(source, dir_fd=self._store, follow_symlinks=False)
        except OSError:
            raise ChangedWheelError(self._wheel.digest) from None
        if (about.st_size, about.st_mtime_ns) != (one.file.size, one.file.changed_ns):
            raise ChangedWheelError(self._wheel.digest)

    def _link(self, one: PlacedFile, source: str) -> None:
        try:
            self._linked(source, one.place)
        except FileExistsError:
            self._remove(one.place)
            self._linked(source, one.place)
        except NotADirectoryError:
            raise self._conflict(one.place) from None
        self._places[one.place] = one.file.size

    def _linked(self, source: str, place: str) -> None:
        """By link; by copy where the file system has none, or no more of them."""
        try:
            os.link(
                source, place,
                src_dir_fd=self._store, dst_dir_fd=self._root, follow_symlinks=False,
            )  # fmt: skip
        except (FileExistsError, NotADirectoryError, FileNotFoundError):
            raise
        except OSError:
            with (
                open(os.open(source, FILE, dir_fd=self._store), "rb") as read,
                open(os.open(place, NEW_FILE, 0o600, dir_fd=self._root), "wb") as written,
            ):
                shutil.copyfileobj(read, written, 1 << 20)
                os.fchmod(written.fileno(), os.fstat(read.fileno()).st_mode & 0o777)

    def _remove(self, place: str) -> None:
        try:
            os.unlink(place, dir_fd=self._root)
        except (IsADirectoryError, PermissionError):
            raise self._conflict(place) from None

    def _conflict(self, place: str) -> PreparationError:
        return refused(self._wheel.filename, f"has a file where a directory is: {place}")

    def _rewritten(self, one: PlacedFile, source: str) -> bool:
        """A script that asks for it gets this environment's Python into its first line."""
        fd = os.open(source, FILE, dir_fd=self._store)
        if os.pread(fd, len(_WRITTEN), 0) != _WRITTEN.encode():
            os.close(fd)
            return False
        _, _, rest = (read_regular(fd) or b"").partition(b"\n")
        self._write(one.place, os.fsencode(shebang(self._python)) + b"\n" + rest, 0o755)
        return True

    def _write(self, place: str, data: bytes, mode: int) -> None:
        self._make_room(place)
        try:
            fd = os.open(place, NEW_FILE, mode, dir_fd=self._root)
        except FileExistsError:
            self._remove(place)
            fd = os.open(place, NEW_FILE, mode, dir_fd=self._root)
        except NotADirectoryError:
            raise self._conflict(place) from None
        try:
            os.fchmod(fd, mode)
            write_all(fd, data)
        finally:
            os.close(fd)
        self._places[place] = len(data)
