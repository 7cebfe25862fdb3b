"""A virtual environment, written by wardian itself: links, one file, and directories. No package
may put anything in place of a part of it."""

from __future__ import annotations

import os
from typing import NamedTuple

from wardian.descriptors import FOLDER, NEW_FILE
from wardian.runner.packages.cabinet import make_readable
from wardian.runner.packages.model import PreparationError

_CONFIG = """home = {home}
include-system-site-packages = false
version = {version}
executable = {python}
"""


class BasePython(NamedTuple):
    """An installed Python: what to start, its prefix, and its version; links resolved."""

    python: str
    prefix: str
    version: tuple[int, ...]

    @property
    def named(self) -> str:
        return f"python{self.version[0]}.{self.version[1]}"

    @property
    def is_system(self) -> bool:
        """It is inside every sandbox already."""
        from wardian.sandbox.root.programs import INSIDE
        from wardian.sandbox.root.shares import is_below

        return any(is_below(self.prefix, root) for root in INSIDE)


def base_of(python: str) -> BasePython | None:
    """The installation behind a Python, or None if that is none.

    Judged by its own files: a prefix counts only if the standard library lies in it, and never if
    it is a home directory or holds one. No ``pyvenv.cfg`` is read.
    """
    from wardian.runner.pythons import version_of
    from wardian.sandbox.root.shares import is_below

    real = os.path.realpath(python)
    folder, prefix = os.path.dirname(real), os.path.dirname(os.path.dirname(real))
    version = version_of(real)
    if version is None or len(version) < 2 or os.path.basename(folder) != "bin":
        return None
    found = BasePython(real, prefix or "/", version)
    home = os.path.expanduser("~")
    if prefix in ("", "/") or any(is_below(one, prefix) for one in (home, os.path.realpath(home))):
        return None
    library = os.path.join(prefix, "lib", found.named, "os.py")
    return found if os.path.isfile(library) and not os.path.islink(library) else None


def make(path: str, base: BasePython) -> None:
    """Write the environment into an empty directory of wardian's own."""
    root = os.open(path, FOLDER)
    try:
        for name in (
            "bin",
            "include",
            "lib",
            f"lib/{base.named}",
            f"lib/{base.named}/site-packages",
        ):
            make_readable(name, root)
        for name, target in links(base).items():
            os.symlink(target, name, dir_fd=root)
        fd = os.open("pyvenv.cfg", NEW_FILE, 0o644, dir_fd=root)
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, 0o644)
            file.write(config(base))
    finally:
        os.close(root)


def links(base: BasePython) -> dict[str, str]:
    """The links of an environment, by their names in it."""
    return {
        "bin/python": base.python,
        "bin/python3": "python",
        f"bin/{base.named}": "python",
        "lib64": "lib",
    }


def config(base: BasePython) -> bytes:
    """The content of its pyvenv.cfg."""
    version = ".".join(map(str, (*base.version, 0)[:3]))
    home = os.path.dirname(base.python)
    return os.fsencode(_CONFIG.format(home=home, version=version, python=base.python))


def replaced(name: str) -> PreparationError:
    """A package that would put something in place of a part of the environment."""
    return PreparationError(
        f"a package would have replaced the environment's own {name}; nothing was installed",
        hint="such a package can't be used; install them one by one to find it, then remove it",
    )
