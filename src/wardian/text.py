"""Text on its way to a terminal: made harmless, never shortened or translated."""

from __future__ import annotations

import unicodedata


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
