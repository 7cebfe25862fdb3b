"""What runs outside on wardian's behalf, and what it goes by: a guest that could write any of it
would get out at the next start. It is never shared for writing, and read-only in what is."""

from __future__ import annotations

import contextlib
import functools
import os
import sys

from wardian import compiled
from wardian.errors import ShareError
from wardian.homes import KINDS, own_directory
from wardian.sandbox.paths.named import way_of
from wardian.sandbox.paths.shared_before import register_places
from wardian.sandbox.root.shares import is_below

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import NamedTuple
else:
    from wardian.values import NamedTuple

PACKAGE = os.path.realpath(compiled.PACKAGE)
# The working directory, where ``python -m wardian`` was started without -P: Python looked there
# for ``wardian`` itself, and will again.
started_in: str | None = None
_lent: set[str] = set()


class Own(NamedTuple):
    """``closed``: nothing at or below is shared for writing. ``searched``: Python looks for modules
    there, but it is no installation. ``kept``: read-only in what is shared around it, whatever a
    run may write further down. ``links``: where links stand on the way to any of them."""

    closed: tuple[str, ...]
    searched: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def own_files() -> Own:
    """Of this process, on this machine; all paths are real."""
    return _own(tuple(sys.path), started_in, register_places(), wardian_homes())


def kept_places() -> tuple[str, ...]:
    """What every run of this wardian has found read-only in a writable share around it."""
    homes = (os.path.realpath(place) for place in wardian_homes())
    return (PACKAGE, *_prefixes(), *homes)


def wardian_homes() -> tuple[str, ...]:
    """wardian's own directories in the user's home: settings, state, cache."""
    homes = (own_directory(kind) for kind in KINDS)
    return tuple(place for place in homes if place.startswith("/"))


def refuse_own(path: str, own: Own) -> None:
    """Raises ShareError if a guest that may write to ``path`` could change what runs outside."""
    for root in own.closed:
        if is_below(path, root) and path not in _lent:
            raise ShareError(path, f"it is part of wardian's own files ({root})")
    for root in own.searched:
        if path == root or (is_below(path, root) and _is_module(path[len(root) :])):
            raise ShareError(
                path,
                f"wardian's own Python looks for modules in {root}, so a guest could bring its own",
                hint="start wardian from elsewhere, or as `wardian` or `python3 -P -m wardian`, "
                "without PYTHONPATH",
            )
    for link in own.links:
        if is_below(link, path) and not any(is_below(link, root) for root in own.closed):
            raise ShareError(
                path,
                f"wardian itself is reached through the link {link}, which a guest could replace",
                hint=f"start it by its real path: {os.path.realpath(link)}",
            )


@contextlib.contextmanager
def lent(paths: Iterable[str]) -> Iterator[None]:
    """While this lasts, these directories of wardian's own may be shared for writing: with a
    sandbox that prepares something for it. Never what a caller names."""
    new = {os.path.realpath(path) for path in paths} - _lent
    _lent.update(new)
    try:
        yield
    finally:
        _lent.difference_update(new)


def read_only_within(path: str, own: Own, *, make: bool = False) -> list[str]:
    """What is to be read-only in a writable share of ``path``. Raises ShareError.

    With ``make``, a directory that Python or wardian would look in, and that is not there yet, is
    made: else the guest could make it.
    """
    found: list[str] = []
    for root in sorted({*own.closed, *own.searched, *own.kept}, key=len):
        if root == path or not is_below(root, path) or any(is_below(root, f) for f in found):
            continue
        try:
            if make and not os.path.lexists(root):
                os.makedirs(root, 0o700, exist_ok=True)
        except OSError as error:
            why = f"{root}, where wardian's own files may be, can't be kept from the guest"
            raise ShareError(path, f"{why}: {(error.strerror or '').lower()}") from None
        if os.path.lexists(root) and os.path.realpath(root) == root:
            found.append(root)
    return found


def _is_module(below: str) -> bool:
    """Could ``import`` find the first name of this path, for something that wardian imports?"""
    name = below.strip("/").split("/")[0].partition(".")[0]
    return name in sys.stdlib_module_names or name in sys.modules or name == "wardian"


@functools.lru_cache(maxsize=8)
def _own(
    path: tuple[str, ...], cwd: str | None, registers: tuple[str, ...], homes: tuple[str, ...]
) -> Own:
    # A register that is not used is nobody's to make; if a guest makes it, it says too much.
    used = [place for i, place in enumerate(registers) if i == 0 or os.path.isdir(place)]
    closed = [PACKAGE, *_prefixes(), *map(os.path.realpath, used)]
    if homes:
        closed += map(os.path.realpath, (own_directory("config"), own_directory("cache")))
    searched = [] if cwd is None else [os.path.realpath(cwd)]
    links: set[str] = set()
    for named in (sys.executable, sys.prefix, _script()):
        real, laid = _walked(named) if named else ("", [])
        links.update(laid)
        if named and named == sys.executable:
            closed.append(real)
    for entry in dict.fromkeys((*_entries(path), *_user_site())):
        real, laid = _walked(entry)
        links.update(laid)
        (closed if _is_installation(real) else searched).append(real)
    return Own(
        tuple(dict.fromkeys(closed)),
        tuple(dict.fromkeys(searched)),
        tuple(map(os.path.realpath, homes)),
        tuple(sorted(links)),
    )


def _entries(path: Sequence[str]) -> list[str]:
    """Where this Python looks for modules. A program's own directory, where that program is not
    wardian, is its author's business."""
    own = not sys.flags.safe_path and not _script()
    entries = path[1:] if own and path and started_in is None else path
    return [os.path.abspath(entry) for entry in entries if entry]


def _script() -> str:
    """The command ``wardian`` as it was called; nothing if this is another program."""
    called = sys.argv[0] if getattr(sys, "argv", None) else ""
    return os.path.abspath(called) if os.path.basename(called) == "wardian" else ""


def _user_site() -> tuple[str, ...]:
    """Looked in at every start, once it is there."""
    site = sys.modules.get("site")
    place = getattr(site, "USER_SITE", None)
    wanted = getattr(site, "ENABLE_USER_SITE", False) and isinstance(place, str)
    return (place,) if wanted and place else ()


def _prefixes() -> tuple[str, ...]:
    """wardian's venv and the installation that it was made from; /usr is more than Python."""
    found = [os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)]
    return tuple(dict.fromkeys(one for one in found if one not in ("/usr", "/usr/local", "/")))


def _is_installation(entry: str) -> bool:
    return any(
        part in ("site-packages", "dist-packages") or part.startswith("python3")
        for part in entry.split("/")
    )


def _walked(path: str) -> tuple[str, list[str]]:
    """The real path, and where links stand on the way to it."""
    try:
        way = way_of(os.path.abspath(path), missing_ok=True)
    except OSError:
        return os.path.realpath(path), []
    return way.real, [link.path for link in way.links]
