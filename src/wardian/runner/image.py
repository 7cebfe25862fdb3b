"""A root file system on its way into a tar: what lies where, with the libraries it needs.

The tar is the same to the byte for the same content: sorted names, no dates, no owners.

Nothing that a file of a skill or a package names gets in by that: only what really lies in an
admitted place does, which are the system's directories and those given to ``admit``.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from wardian.descriptors import FILE
from wardian.runner.elf import library, library_folders, read_elf
from wardian.sandbox.root.shares import is_below

# In the guest /bin is usr/bin, and so on, whatever it is on this host.
MERGED = ("bin", "lib", "lib64", "sbin")
LIBC = "libc.so.6"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
MAX_LIBRARIES = 4000
MAX_MEMBERS = 500_000


class ImageMember(NamedTuple):
    """A link, or a file: bytes, or the path of one on this host."""

    content: bytes | str
    link: bool = False
    executable: bool = False


class Image:
    """Paths are relative to the root, and begin with usr/ where that is where they end up."""

    def __init__(self) -> None:
        self.members: dict[str, ImageMember] = {}
        self.missing: list[str] = []
        self._trees: list[str] = []
        self._places: list[str] = []
        self._files: set[str] = set()
        self._brought = 0
        self._folders = library_folders()
        self._system = tuple(dict.fromkeys(map(os.path.realpath, (*SYSTEM, *self._folders))))
        places = (os.path.join(folder, LIBC) for folder in self._folders)
        libc = next((path for path in places if os.path.isfile(path)), "/usr/lib/x")
        # All libraries go where libc is: a folder that every loader looks in.
        self._libraries = placed(os.path.dirname(os.path.realpath(libc)))
        for name in MERGED:
            self.link(name, f"usr/{name}")

    def link(self, at: str, target: str) -> None:
        """A symbolic link."""
        self.members[at] = ImageMember(target, link=True)

    def data(self, at: str, content: bytes, *, executable: bool = False) -> None:
        """A file with this content."""
        self.members[at] = ImageMember(content, executable=executable)

    def admit(self, place: str) -> None:
        """What really lies there, or below, may be packed: the skill, an environment, the prefix
        of an interpreter; or one program."""
        real = os.path.realpath(place)
        if os.path.isdir(real):
            self._places.append(real)
        else:
            self._files.add(real)

    def admitted(self, real: str) -> bool:
        """Is this a place that files may come from? Of the system only what everybody may read."""
        if real in self._files or any(is_below(real, place) for place in self._places):
            return True
        if not any(is_below(real, place) for place in self._system):
            return False
        try:
            return bool(os.stat(real, follow_symlinks=False).st_mode & 0o004)
        except OSError:
            return False

    def file(self, at: str, source: str) -> None:
        """A file of this host, links followed as far as they stay in admitted places, with the
        libraries and the loader that it needs."""
        real = os.path.realpath(source)
        if self._put(at, real, source):
            self.add_needs(real)

    def _put(self, at: str, real: str, source: str) -> bool:
        """False if it is there already, or may not be."""
        if at in self.members:
            return False
        if not self.admitted(real):
            self.missing.append(f"{source}, which leads out of the skill, its packages and /usr")
            return False
        if len(self.members) >= MAX_MEMBERS:
            raise OSError(0, f"more than {MAX_MEMBERS:,} files", source)
        with _open_real(real) as file:
            executable = bool(os.fstat(file.fileno()).st_mode & 0o111)
        self.members[at] = ImageMember(real, executable=executable)
        return True

    def tree(self, at: str, root: str, wanted: Callable[[str], bool]) -> None:
        """The files below a directory of this host; ``wanted`` is asked about each plain name."""
        real = os.path.realpath(root)
        if not os.path.isdir(real):
            return
        if not self.admitted(real):
            self.missing.append(f"{root}, which leads out of the skill, its packages and /usr")
            return
        self._trees.append(real + "/")
        for place, folders, files in os.walk(real):
            folders[:] = sorted(name for name in folders if wanted(name))
            for name in sorted(files):
                source = os.path.join(place, name)
                if wanted(name) and os.path.isfile(source):
                    self.file(os.path.join(at, os.path.relpath(source, real)), source)

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
        path = None
        if elf is not None:
            path = library(name, wanted_by, elf, self._folders, self.admitted)
        if path is not None:
            self.file(f"{self._libraries}/{name}", path)
        return path is not None

    def add_needs(self, source: str) -> None:
        """The loader and the libraries of a program of this host, or of the skill, and theirs."""
        pending = [source]
        while pending:
            wanted_by = pending.pop()
            for at, real in self._needs(wanted_by):
                if self._brought >= MAX_LIBRARIES:
                    self.missing.append(f"more than {MAX_LIBRARIES} libraries")
                    return
                if self._put(at, real, real):
                    self._brought += 1
                    pending.append(real)

    def _needs(self, source: str) -> Iterator[tuple[str, str]]:
        """Where each thing goes, and the real path of it: ELF files in admitted places."""
        elf = read_elf(source)
        if elf is None:
            return
        if elf.loader is not None:
            loader = library(elf.loader, source, elf, [], self._is_system)
            if loader is not None:
                yield placed(elf.loader), loader
            else:
                self.missing.append(f"{elf.loader}, the loader that {source} names")
        for name in elf.needed:
            if name.startswith("ld-linux") or f"{self._libraries}/{name}" in self.members:
                continue
            path = library(name, source, elf, self._folders, self.admitted)
            if path is None:
                self.missing.append(f"{name}, a library that {source} needs")
            elif not path.startswith(tuple(self._trees)):
                # What lies in a tree, as in a wheel, is found by its place relative to others.
                yield f"{self._libraries}/{os.path.basename(name)}", path

    def _is_system(self, real: str) -> bool:
        return any(is_below(real, place) for place in self._system) and self.admitted(real)

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
    return io.BytesIO(content) if isinstance(content, bytes) else _open_real(content)


def _open_real(real: str) -> io.BufferedReader:
    """A regular file at exactly this path: no part of it may have become a link since it was
    resolved. Raises OSError."""
    descriptor = os.open(real, FILE)
    regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    if not regular or os.readlink(f"/proc/self/fd/{descriptor}") != real:
        os.close(descriptor)
        raise OSError(0, "it changed during packing, or is not a regular file", real)
    return open(descriptor, "rb")
