"""Finding the program that a command names, and what must be shared for it to start.

Programs below /usr are inside already. For a Python, Node or other tool that lives elsewhere (a
venv, pyenv, conda, uv, ~/.cargo/bin …) its real prefix is found by looking, never by running it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from wardian.sandbox.shares import KERNEL_TREES, Source, is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

INSIDE = ("/usr", "/bin", "/sbin", "/lib", "/lib64")


class Program(NamedTuple):
    """What to share for a command, and the host path to start; empty if /usr has it already."""

    sources: tuple[Source, ...] = ()
    path: str = ""


NOTHING = Program()


def find_program(command: str, env: Mapping[str, str]) -> Program:
    """What ``command`` needs besides /usr; nothing if it is there already, or is not found."""
    if command.startswith(("/usr/", "/bin/")) and "/.." not in command:
        return NOTHING
    if command.startswith("/"):
        found: str | None = command if _is_program(command) else None
    elif "/" in command:
        return NOTHING  # relative to the guest's own working directory
    else:
        found = _search(command, env.get("PATH", os.defpath))
    if found is None or any(is_below(found, root) for root in INSIDE):
        return NOTHING
    found = _behind_link(_behind_shim(found, env))
    places = _places(found)
    if not places:
        return NOTHING
    sources = tuple(
        Source(
            os.path.realpath(place), place, False, os.path.isdir(place), owner=_needs_owner(place)
        )
        for place in places
    )
    return Program(sources, found)


def placed(program: Program, shares: Sequence[Source]) -> Program:
    """The same program where the policy's own shares leave room for it, its path as seen inside.

    What a share shows already is used there; what would lie below another share's place gets a
    place of its own, for nothing is ever created in what is shared.
    """
    sources: list[Source] = []
    path = program.path
    for number, source in enumerate(program.sources):
        shown = next((s for s in shares if is_below(source.path, s.path)), None)
        if shown is not None:
            at = shown.at.rstrip("/") + source.path[len(shown.path.rstrip("/")) :]
        elif any(is_below(source.at, s.at) for s in shares):
            at = f"/opt/wardian/{number}"
            sources.append(source._replace(at=at))
        else:
            sources.append(source)
            continue
        if is_below(path, source.at):
            path = at + path[len(source.at) :]
    return Program(tuple(sources), path)


def _is_program(path: str) -> bool:
    """A file that may be executed; never the kernel's own, nor a directory."""
    real = os.path.realpath(path)
    kernels = any(is_below(real, tree) for tree in KERNEL_TREES)
    return not kernels and os.path.isfile(real) and os.access(real, os.X_OK)


def _search(name: str, path: str) -> str | None:
    for directory in path.split(os.pathsep):
        candidate = os.path.join(directory, name)
        if (
            directory.startswith("/")
            and os.path.isfile(candidate)
            and os.access(candidate, os.X_OK)
        ):
            return candidate
    return None


def _behind_shim(found: str, env: Mapping[str, str]) -> str:
    """pyenv's shims are shell scripts that choose a version; choose as they would."""
    directory, name = os.path.split(found)
    if os.path.basename(directory) != "shims":
        return found
    root = os.path.dirname(directory)
    versions = env.get("PYENV_VERSION") or _first_line(os.path.join(root, "version")) or ""
    for version in versions.replace(":", " ").split():
        real = os.path.join(root, "versions", version, "bin", name)
        if os.access(real, os.X_OK):
            return real
    return found


def _behind_link(found: str) -> str:
    """A link into an installation (uv, pipx) stands for the program there."""
    real = os.path.realpath(found)
    return real if _prefix(found) is None and _prefix(real) is not None else found


def _first_line(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline(256).strip()
    except (OSError, UnicodeDecodeError):
        return None


def _places(found: str) -> list[str]:
    """Directories or files of the host that the program at ``found`` needs, shortest first."""
    places: list[str] = []
    for path in dict.fromkeys((found, os.path.realpath(found))):
        prefix = _prefix(path)
        if prefix:
            places.append(prefix)
            places += _venv_base(prefix)
        else:
            places.append(path)
    kept: list[str] = []
    for place in sorted(dict.fromkeys(places), key=len):
        if not any(is_below(place, root) for root in (*INSIDE, *kept)):
            kept.append(place)
    return kept


def _prefix(program: str) -> str | None:
    """The installation a program belongs to, if it is one that can be told by its files."""
    directory, prefix = os.path.dirname(program), os.path.dirname(os.path.dirname(program))
    if os.path.basename(directory) != "bin" or is_below(os.path.expanduser("~"), prefix):
        return None  # never a home directory, nor anything above one
    import glob  # loads re; only programs outside /usr come here

    marks = (
        "pyvenv.cfg",
        "conda-meta",
        "lib/node_modules",
        "lib/python3*/os.py",
        "lib/ruby",
        "lib/R",
    )
    for mark in marks:
        if glob.glob(os.path.join(glob.escape(prefix), mark)):
            return prefix
    return None


def _venv_base(prefix: str) -> list[str]:
    """A venv names the installation it was made from in ``home = …/bin``."""
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8") as file:
            pairs = [line.partition("=") for line in file]
    except (OSError, UnicodeDecodeError):
        return []
    for key, _, value in pairs:
        if key.strip() == "home" and value.strip().startswith("/"):
            base = os.path.dirname(os.path.realpath(value.strip()))
            if not is_below(os.path.expanduser("~"), base) and base != "/":
                return [base]
    return []


def _needs_owner(place: str) -> bool:
    """A place closed to others is only readable as its owner."""
    try:
        return os.stat(place).st_mode & 0o005 != 0o005
    except OSError:
        return False
