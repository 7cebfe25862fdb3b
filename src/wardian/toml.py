"""TOML that people write, or that nobody trusts: parsed in time that grows with its size alone, and
errors have line and column.

``tomllib`` takes time by the square of the parts of a dotted key: 1 MiB of ``a.a.a…`` takes the
better part of an hour.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from wardian.errors import InputError

MAX_PARTS = 32
# Strings and comments; one that is not closed goes on to the end, so that each is read once.
_TEXT = (
    r'"""(?:\\.|[^\\]|\\\Z)*?(?:"""|\Z)'
    r"|'''.*?(?:'''|\Z)"
    r'|"(?:\\.|[^"\\\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
)


def loads(text: str) -> dict[str, Any]:
    """The document. Raises ValueError (not TOML, too many parts) and RecursionError (too deep)."""
    import re
    import tomllib

    plain = re.sub(r"[ \t]+", "", re.sub(_TEXT, "s", text, flags=re.DOTALL))
    if any(key.count(".") >= MAX_PARTS for key in re.findall(r"[\w.-]+", plain)):
        raise ValueError(f"a key of more than {MAX_PARTS} parts")
    return tomllib.loads(text)


def parse(text: str, path: str, error: type[InputError]) -> dict[str, Any]:
    """The document that stands at ``path``. Raises ``error``, with the place."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        message, line, column = syntax_place(text, str(problem))
        raise error(message, path=path, line=line, column=column) from None
    except (ValueError, RecursionError) as problem:  # digits, or nesting, without end
        raise error(f"not TOML: {problem}", path=path) from None


def syntax_place(text: str, message: str) -> tuple[str, int, int]:
    """What is wrong, its line and column; tomllib ends messages with ``(at line L, column C)``."""
    head, _, where = message.rpartition(" (at ")
    words = where.rstrip(")").replace(",", "").split()
    if len(words) == 4 and words[0] == "line":
        return head, int(words[1]), int(words[3])
    lines = text.splitlines() or [""]
    head = head if where == "end of document)" else message
    return head, len(lines), len(lines[-1]) + 1


def locate(text: str, keys: list[str], value: str | None = None) -> tuple[int, int]:
    """Line and column of a key (or of a value below it) in TOML text that is known to parse."""
    table, found = "", (1, 1)
    dotted = ".".join(keys)
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            table = bare.strip("[] ").split("]")[0].replace(" ", "").replace('"', "")
            inside = False
            if table == dotted or (len(keys) > 1 and table == keys[0]):
                found = (number, line.index("[") + 1)
            continue
        name = bare.split("=")[0].strip().replace('"', "") if "=" in bare else ""
        full = f"{table}.{name}" if table else name
        if name and (full == dotted or dotted.startswith(full + ".")):
            found, inside = (number, len(line) - len(line.lstrip()) + 1), full == dotted
            if value is None and inside:
                return found
        if inside and value is not None and value in line:
            return number, line.index(value) + 1
    return found


def suggest(word: str, known: Iterable[str]) -> str:
    """The nearest known word, or all of them."""
    import difflib

    near = difflib.get_close_matches(word, list(known), 1, 0.6)
    return f"did you mean {near[0]!r}?" if near else "known: " + ", ".join(sorted(known))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quoted(text: str) -> str:
    """As a basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(map(_escaped, escaped)) + '"'
