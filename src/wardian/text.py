"""Text on its way to a terminal: made harmless, laid out, cut to a length that was asked for."""

from __future__ import annotations

import unicodedata

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Sequence


def printable(text: str) -> str:
    r"""``text`` on one line, with everything a terminal might obey or hide written as an escape.

    Control characters, line breaks, bidirectional overrides, zero-width and tag characters,
    lone surrogates and unassigned code points become ``\x1b`` or ``\u202e``; spaces stay.
    """
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    # isprintable() is false for every Z*, C* category but the ASCII space.
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    code = ord(character)
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def quoted(word: str) -> str:
    """One word of a shell's command line (shlex.quote, without loading re)."""
    return word if word and _PLAIN.issuperset(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def shell_word(word: str) -> str:
    r"""The word for a shell, in one line. What a terminal might obey is spelled in ``$'…'``, where
    quotes are escapes too: a shell that does not know this takes it for one plain word, and nothing
    in it for a command."""
    if word.isprintable():
        return quoted(word)
    spelled = word.encode("utf-8", "surrogateescape")
    shown = (
        chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\{byte:03o}"
        for byte in spelled
    )
    return f"$'{''.join(shown)}'"


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of cells that stand below each other; the last is as long as it is."""
    widths = [max(map(len, cells)) for cells in list(zip(*rows, strict=True))[:-1]]
    return ["  ".join([*map(str.ljust, row[:-1], widths), row[-1]]).rstrip() for row in rows]


def cut(text: str, most: int) -> str:
    """So many characters, the last of them an ellipsis if there were more."""
    return text if len(text) <= most else text[: most - 1] + "…"


def signal_name(number: int) -> str:
    """SIGSEGV and the like."""
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
