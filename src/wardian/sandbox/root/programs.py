"""Finding the program that a command names, and what must be shared for it to start.

Programs below /usr are inside already. For a Python, Node or other tool that lives elsewhere (a
venv, pyenv, conda, uv, ~/.cargo/bin …) its real prefix is found by looking, never by running it,
and never by what a file in it says. Where a guest may have left a link, it leads to nothing but
an installation that is known without it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from wardian.errors import ShareError
from wardian.sandbox.root.shares import KERNEL_TREES, Source, is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from typing import NamedTuple

    from wardian.sandbox.paths.named import ResolvedPath
else:
    from wardian.values import NamedTuple

INSIDE = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
_skipped: dict[str, str] = {}


class Program(NamedTuple):
    """What to share for a command, and the host path to start; empty if /usr has it already."""

    sources: tuple[Source, ...] = ()
    path: str = ""


NOTHING = Program()


def find_program(command: str, env: Mapping[str, str], shares: Sequence[Source] = ()) -> Program:
    """What ``command`` needs besides /usr; nothing if it is there already, or is not found.

    ``shares`` are the run's own: what they show is there, too. Raises ShareError for a program
    that leads, by a link that a guest may have left, to what is no known installation.
    """
    if command.startswith(("/usr/", "/bin/")) and "/.." not in command:
        return NOTHING
    if command.startswith("/"):
        found: str | None = command if _is_program(command) else None
    elif "/" in command:
        return NOTHING  # relative to the guest's own working directory
    else:
        found = program_named(command, env, shares)
    if found is None or any(is_below(found, root) for root in INSIDE):
        return NOTHING
    from wardian.sandbox.paths.named import untrusted, way_of

    found = _behind_shim(found, env)
    try:
        way = way_of(os.path.normpath(found))
    except OSError:
        return NOTHING
    doubtful = untrusted(way)
    if doubtful is None:
        places = _places((found, way.real), env)
        found = _behind_link(found, way)
    else:
        known = _known_places(found, way, doubtful, env, shares)
        places = [*_places((found,), env), *known]
    return Program(tuple(_source(place) for place in _outermost(places)), found)


def program_named(
    command: str, env: Mapping[str, str], shares: Sequence[Source] = ()
) -> str | None:
    """The program that a command names: one of wardian's own venv only if there is no other."""
    from wardian.sandbox.root.active import is_own

    entries = env.get("PATH", os.defpath).split(os.pathsep)
    others = [entry for entry in entries if not is_own(entry)]
    found = on_path(command, {"PATH": os.pathsep.join(others)}, shares)
    return found if found is not None or others == entries else on_path(command, env, shares)


def single_file(path: str) -> Program:
    """A program that needs nothing beside it, shared at its own name. Raises ShareError."""
    return Program((_source(path),), path)


def placed(program: Program, shares: Sequence[Source]) -> Program:
    """The same program where the policy's own shares leave room for it, its path as seen inside.

    What a share shows already is used there; what would lie below another share's place gets a
    place of its own, for nothing is ever created in what is shared.
    """
    sources: list[Source] = []
    path = program.path
    for source in program.sources:
        shown = next((s for s in shares if is_below(source.path, s.path)), None)
        if shown is not None:
            at = shown.at.rstrip("/") + source.path[len(shown.path.rstrip("/")) :]
        elif any(is_below(source.at, s.at) for s in shares):
            at = f"/opt/wardian{source.at}"
            sources.append(source._replace(at=at))
        else:
            sources.append(source)
            continue
        if is_below(path, source.at):
            path = at + path[len(source.at) :]
    return Program(tuple(sources), path)


def on_path(name: str, env: Mapping[str, str], shares: Sequence[Source] = ()) -> str | None:
    """The program of that name as a shell would find it, but for what a guest may have put there.

    Relative and empty entries do not count. An entry in a place that is or was shared for writing,
    or that leads there, is skipped (see ``skipped_entries``), unless ``shares`` show it anyway.
    """
    for directory in dict.fromkeys(env.get("PATH", os.defpath).split(os.pathsep)):
        path = os.path.join(directory, name)
        if not directory.startswith("/") or not _is_program(path):
            continue
        if is_below(path, "/usr") and "/.." not in path and not os.path.islink(path):
            return path  # what root itself shared from there is no business of a search
        why = why_unfit(path, shares)
        if why is None:
            return path
        _skipped.setdefault(directory, why)
    return None


def why_unfit(path: str, shares: Sequence[Source] = ()) -> str | None:
    """None for a program of PATH that may be taken; else, in a clause, why not: a guest may have
    written it, and ``shares`` do not show it anyway."""
    why = _unfit(path)
    shown = any(is_below(os.path.normpath(path), share.path) for share in shares)
    return None if why is None or shown else why


def outside(name: str, env: Mapping[str, str]) -> str | None:
    """A program that may be started outside the sandbox: found by ``on_path``, and the system's own
    (no user but root could have changed it) or part of what wardian itself runs on."""
    import sys

    own = [os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix)]
    for directory in dict.fromkeys(env.get("PATH", os.defpath).split(os.pathsep)):
        found = on_path(name, {"PATH": directory})
        if found is None:
            continue
        real = os.path.realpath(found)
        if any(is_below(real, prefix) for prefix in own) or _is_the_systems(real):
            # By its own name, which some programs go by, where nobody could have laid the link.
            return found if _is_the_systems(os.path.realpath(directory)) else real
        _skipped.setdefault(directory, f"{name} there is not the system's own")
    return None


def system_path(env: Mapping[str, str]) -> str:
    """Of PATH, the directories that nobody but root could have put a program in."""
    from wardian.sandbox.paths.named import was_shared

    entries = dict.fromkeys(env.get("PATH", os.defpath).split(os.pathsep))
    kept = [e for e in entries if e.startswith("/") and _is_the_systems(os.path.realpath(e))]
    return os.pathsep.join(entry for entry in kept if was_shared(os.path.realpath(entry)) is None)


def skipped_entries() -> dict[str, str]:
    """The entries of PATH that were skipped so far, and why."""
    return dict(_skipped)


def _unfit(path: str) -> str | None:
    """Why a program is not to be taken, in a clause: a guest may have written it."""
    from wardian.sandbox.paths.named import untrusted, was_shared, way_of

    try:
        way = way_of(os.path.normpath(path))
    except OSError as error:
        return (error.strerror or "it can't be resolved").lower()
    why = untrusted(way)
    if why is not None:
        return f"it {why}"
    shared = was_shared(os.path.dirname(way.real))
    return None if shared is None else f"it lies in {shared}, which was shared for writing"


def _is_the_systems(real: str) -> bool:
    """Only root could have written it: so is every directory on the way, or none may rename it."""
    root, at = os.lstat("/").st_uid, real
    while True:
        try:
            found = os.lstat(at)
        except OSError:
            return False
        sticky = at != real and found.st_mode & 0o1000
        if found.st_uid not in (0, root) or (found.st_mode & 0o022 and not sticky):
            return False
        if at == "/":
            return True
        at = os.path.dirname(at)


def _is_program(path: str) -> bool:
    """A file that may be executed; never the kernel's own, nor a directory."""
    real = os.path.realpath(path)
    kernels = any(is_below(real, tree) for tree in KERNEL_TREES)
    return not kernels and os.path.isfile(real) and os.access(real, os.X_OK)


def _behind_shim(found: str, env: Mapping[str, str]) -> str:
    """pyenv's shims are shell scripts that choose a version; choose as they would."""
    from wardian.sandbox.paths.named import was_shared

    directory, name = os.path.split(found)
    root = os.path.dirname(directory)
    if os.path.basename(directory) != "shims" or was_shared(os.path.realpath(root)) is not None:
        return found
    versions = env.get("PYENV_VERSION") or _first_line(os.path.join(root, "version")) or ""
    for version in versions.replace(":", " ").split():
        real = os.path.join(root, "versions", version, "bin", name)
        if "/" not in version and version != ".." and os.access(real, os.X_OK):
            return real
    return found


def _behind_link(found: str, way: ResolvedPath) -> str:
    """A link into an installation (uv, pipx, npm) stands for the program there, but for one in an
    environment, which is what makes that environment be used."""
    from wardian.sandbox.root.installations import is_environment

    prefix = _prefix(found)
    if prefix is not None:
        return found if is_environment(prefix) else way.real
    return way.real if _prefix(way.real) is not None else found


def _first_line(path: str) -> str | None:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            return file.readline(256).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _places(paths: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Directories or files of the host that a program of these names needs."""
    from wardian.sandbox.root.installations import bases, parts

    places: list[str] = []
    for path in dict.fromkeys(paths):
        prefix = _prefix(path)
        places += [path] if prefix is None else parts(path, prefix, env)
        if prefix is not None and is_below(os.path.realpath(path), os.path.realpath(prefix)):
            places += bases(prefix, env)  # a venv of copies: no link says what it was made from
    return places


def _known_places(
    found: str, way: ResolvedPath, doubtful: str, env: Mapping[str, str], shares: Sequence[Source]
) -> list[str]:
    """What a way that is not trusted may lead to all the same. Raises ShareError."""
    from wardian.sandbox.root.installations import is_known

    visible = (*INSIDE, *(share.path for share in shares))
    if any(is_below(way.real, place) for place in visible):
        return []
    prefix = os.path.dirname(os.path.dirname(way.real))
    if os.path.basename(os.path.dirname(way.real)) == "bin" and is_known(prefix, env):
        return [prefix]
    from wardian.text import shell_word

    raise ShareError(
        way.real,
        f"{found} {doubtful}",
        hint=f"if that is meant, share it by name: --read {shell_word(prefix)}",
    )


def _outermost(places: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for place in sorted(dict.fromkeys(places), key=len):
        if not any(is_below(place, root) for root in (*INSIDE, *kept)):
            kept.append(place)
    return kept


def _source(place: str) -> Source:
    """A derived share is checked like a named one. Raises ShareError."""
    from wardian.sandbox.paths.named import untrusted, way_of
    from wardian.sandbox.policy.policy import Share
    from wardian.sandbox.root.shares import resolve_shares

    way = way_of(os.path.normpath(place))
    why = untrusted(way) if os.path.isdir(place) else None
    if why is not None and not _is_lib64(place, way):
        from wardian.text import shell_word

        raise ShareError(place, f"it {why}", hint=f"name the target itself: {shell_word(way.real)}")
    (source,) = resolve_shares([Share(way.real, place)])
    return source._replace(owner=_needs_owner(way.real))


def _is_lib64(place: str, way: ResolvedPath) -> bool:
    """The one link that every venv has: it leads to the directory beside it, which is shared."""
    own = os.path.basename(place) == "lib64" and os.readlink(place) == "lib"
    return own and len(way.links) == 1


def _prefix(program: str) -> str | None:
    """The installation a program belongs to, if its files identify one."""
    from wardian.sandbox.paths.named import was_shared
    from wardian.sandbox.root.installations import MARKS, matching

    directory, prefix = os.path.dirname(program), os.path.dirname(os.path.dirname(program))
    if os.path.basename(directory) != "bin" or is_below(os.path.expanduser("~"), prefix):
        return None  # never a home directory, nor anything above one
    within = was_shared(os.path.realpath(prefix)) is not None
    for mark in MARKS:
        for found in matching(prefix, mark):
            # What a guest put into a part of it does not make the whole an installation.
            if within or was_shared(os.path.realpath(os.path.dirname(found))) is None:
                return prefix
    return None


def _needs_owner(place: str) -> bool:
    """A place closed to others is only readable as its owner."""
    try:
        return os.stat(place).st_mode & 0o005 != 0o005
    except OSError:
        return False
