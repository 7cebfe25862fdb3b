"""A root file system on its way into a tar: what lies where, with the libraries it needs.

The tar is the same to the byte for the same content: sorted names, no dates, no owners.
"""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Callable
from typing import NamedTuple

from wardian.runner.elf import library, library_folders, read_elf

# In the guest /bin is usr/bin, and so on, whatever it is on this host.
MERGED = ("bin", "lib", "lib64", "sbin")
LIBC = "libc.so.6"


class Member(NamedTuple):
    """A link, or a file: bytes, or the path of one on this host."""

    content: bytes | str
    link: bool = False
    executable: bool = False


class Image:
    """Paths are relative to the root, and begin with usr/ where that is where they end up."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.missing: list[str] = []
        self._trees: list[str] = []
        self._folders = library_folders()
        places = (os.path.join(folder, LIBC) for folder in self._folders)
        libc = next((path for path in places if os.path.isfile(path)), "/usr/lib/x")
        # All libraries go where libc is: a folder that every loader looks in.
        self._libraries = placed(os.path.dirname(os.path.realpath(libc)))
        for name in MERGED:
            self.link(name, f"usr/{name}")

    def link(self, at: str, target: str) -> None:
        """A symbolic link."""
        self.members[at] = Member(target, link=True)

    def data(self, at: str, content: bytes, *, executable: bool = False) -> None:
        """A file with this content."""
        self.members[at] = Member(content, executable=executable)

    def file(self, at: str, source: str) -> None:
        """A file of this host, links followed, with the libraries and the loader that it needs."""
        if at in self.members:
            return
        source = os.path.realpath(source)
        self.members[at] = Member(source, executable=bool(os.stat(source).st_mode & 0o111))
        self.add_needs(source)

    def tree(self, at: str, root: str, wanted: Callable[[str], bool]) -> None:
        """The files below a directory of this host; ``wanted`` is asked about each plain name."""
        self._trees.append(os.path.realpath(root) + "/")
        for place, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if wanted(name))
            for name in sorted(files):
                source = os.path.join(place, name)
                if wanted(name) and os.path.isfile(source):
                    self.file(os.path.join(at, os.path.relpath(source, root)), source)

    def program(self, name: str, source: str) -> None:
        """A program in usr/bin; a second name of the same one becomes a link."""
        real = os.path.realpath(source)
        for at, member in self.members.items():
            if member.content == real and at.startswith("usr/bin/") and at != f"usr/bin/{name}":
                self.link(f"usr/bin/{name}", os.path.basename(at))
                return
        self.file(f"usr/bin/{name}", real)

    def library(self, name: str, wanted_by: str) -> bool:
        """A library that no header names, as ``wanted_by`` would load it."""
        elf = read_elf(wanted_by)
        path = library(name, wanted_by, elf, self._folders) if elf is not None else None
        if path is not None:
            self.file(f"{self._libraries}/{name}", path)
        return path is not None

    def add_needs(self, source: str) -> None:
        """The loader and the libraries of a program of this host, or of the skill."""
        elf = read_elf(source)
        if elf is None:
            return
        if elf.loader is not None and os.path.isfile(elf.loader):
            self.file(placed(elf.loader), elf.loader)
        for name in elf.needed:
            if name.startswith("ld-linux") or f"{self._libraries}/{name}" in self.members:
                continue
            path = library(name, source, elf, self._folders)
            if path is None:
                self.missing.append(f"{name}, a library that {source} needs")
            elif not os.path.realpath(path).startswith(tuple(self._trees)):
                # What lies in a tree, as in a wheel, is found by its place relative to others.
                self.file(f"{self._libraries}/{os.path.basename(name)}", path)

    def write(self, output: str) -> int:
        """Write the tar, all or nothing, and return its size. Raises OSError."""
        folder = os.path.dirname(os.path.abspath(output))
        descriptor, temporary = tempfile.mkstemp(prefix=".wardian-pack-", dir=folder)
        try:
            with open(descriptor, "wb") as file:
                with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
                    for name in sorted({*self.members, *self._parents()}, key=os.fsencode):
                        self._add(tar, name)
                os.fchmod(file.fileno(), 0o644)
            os.replace(temporary, output)
        except BaseException:
            os.unlink(temporary)
            raise
        return os.stat(output).st_size

    def _parents(self) -> set[str]:
        found = {f"usr/{name}" for name in MERGED} | {"usr"}
        for name in self.members:
            while name := os.path.dirname(name):
                found.add(name)
        return found

    def _add(self, tar: tarfile.TarFile, name: str) -> None:
        info = tarfile.TarInfo(name)  # owner 0, date 0
        member = self.members.get(name)
        if member is None:
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(info)
        elif member.link:
            info.type, info.mode = tarfile.SYMTYPE, 0o777
            info.linkname = str(member.content)
            tar.addfile(info)
        else:
            info.mode = 0o755 if member.executable else 0o644
            with _opened(member.content) as source:
                info.size = source.seek(0, os.SEEK_END)
                source.seek(0)
                tar.addfile(info, source)


def placed(path: str) -> str:
    """Where a path of this host lies in an image: /lib64/x → usr/lib64/x."""
    at = os.path.normpath(path).lstrip("/")
    return f"usr/{at}" if at.split("/")[0] in MERGED else at


def _opened(content: bytes | str) -> io.BufferedIOBase:
    if isinstance(content, bytes):
        return io.BytesIO(content)
    return open(content, "rb")
