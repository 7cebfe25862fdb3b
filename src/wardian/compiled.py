"""Data in the form that loads fastest: what .pyc files are to Python, for our TOML and tables.

``load(name, sources, make)`` returns what ``make()`` would, without running it, if a compiled form
was shipped that was made from exactly these bytes. Otherwise, an edited source included, it makes
it anew. Compiled forms are written when wardian is built, never when it runs.
"""

from __future__ import annotations

import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

PACKAGE = os.path.dirname(os.path.abspath(__file__))
PLACE = os.path.join(PACKAGE, "_bin")
# The highest that every supported Python both writes and reads.
FORMAT = 4


def load(name: str, sources: Iterable[str], make: Callable[[], Any]) -> Any:
    """``sources`` are paths below the package: the data, and the code that turns it into values.

    The value is made of what marshal knows: numbers, text, bytes, tuples, lists, dicts.
    """
    try:
        with open(os.path.join(PLACE, f"{name}.compiled"), "rb") as file:
            made_from, value = marshal.loads(file.read())  # noqa: S302 - our own, like a .pyc
        return value if made_from == _bytes_of(sources) else make()
    except (OSError, ValueError, EOFError, TypeError):
        return make()


def store(name: str, sources: Iterable[str], make: Callable[[], Any]) -> None:
    """Write the compiled form; whoever reads it meanwhile sees the old one or the new one."""
    os.makedirs(PLACE, exist_ok=True)
    path = os.path.join(PLACE, f"{name}.compiled")
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(marshal.dumps((_bytes_of(sources), make()), FORMAT))
    os.replace(temporary, path)


def _bytes_of(sources: Iterable[str]) -> tuple[bytes, ...]:
    found = []
    for source in sources:
        with open(os.path.join(PACKAGE, source), "rb") as file:
            found.append(file.read())
    return tuple(found)
