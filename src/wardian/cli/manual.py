"""The man page wardian(1), made from the help of the commands and the topics."""

from __future__ import annotations

import re

import click

from wardian.cli.help import read_topic, topic_names
from wardian.cli.walking import Node, walk

SUMMARY = "run Agent Skills and other commands in a sandbox"


def man_page() -> str:
    """The page in roff, with the macros of man(7)."""
    from wardian import __version__

    nodes = walk()
    lines = [
        '.\\" Made by `wardian help --man`; edit the help texts, not this page.',
        f'.TH WARDIAN 1 "" "wardian {escaped(__version__)}" "User Commands"',
        ".SH NAME",
        f"wardian \\- {SUMMARY}",
        ".SH SYNOPSIS",
        ".B wardian",
        ".RI [ OPTIONS ]",
        ".I COMMAND",
        ".RI [ ARGS ]...",
        ".SH DESCRIPTION",
        *_paragraphs(
            "The sandbox is on by default and needs no root, no daemon and no image. A guest gets a"
            " root of its own without network, host files or other processes; options allow more."
            " Accesses that were blocked are reported with the option that would allow them."
        ),
    ]
    lines.append(".SH COMMANDS")
    for node in nodes:
        lines += _command(node)
    for name in topic_names():
        title, _, text = read_topic(name).partition("\n")
        lines += [f".SH {escaped(title.partition(':')[0].upper())}", *_text(text)]
    lines += [".SH FILES", *_files()]
    return "\n".join(lines) + "\n"


def _files() -> list[str]:
    rows = (
        ("~/.config/wardian/config.toml", "your settings"),
        ("wardian.toml, pyproject.toml", "project settings, which may only tighten"),
        ("~/.local/state/wardian", "state, among it the register of what was shared for writing"),
        ("~/.cache/wardian", "prepared packages"),
    )
    return [line for name, what in rows for line in (".TP", f".I {escaped(name)}", escaped(what))]


def _command(node: Node) -> list[str]:
    """One command: usage, help, options."""
    context = click.Context(node.command, info_name=node.path, max_content_width=100)
    pieces = " ".join(node.command.collect_usage_pieces(context))
    lines = [".SS " + escaped(f"wardian {node.path}")]
    lines += [".B " + escaped(f"wardian {node.path}"), escaped(pieces), ".PP"]
    lines += _paragraphs(click.unstyle(node.command.help or ""))
    for option in node.options:
        record = option.get_help_record(context)
        if record is not None:
            lines += [".TP", f".B {escaped(record[0])}", escaped(record[1])]
    return lines


def _paragraphs(text: str) -> list[str]:
    lines: list[str] = []
    for part in re.split(r"\n\s*\n", text.replace("\b", "").strip()):
        lines += [".PP", escaped(" ".join(part.split()))]
    return lines[1:]


def _text(text: str) -> list[str]:
    """A topic: indented lines as they are, others filled."""
    lines: list[str] = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        rows = part.split("\n")
        literal = any(row.startswith("  ") for row in rows)
        lines += [".PP", *([".nf"] if literal else []), *map(escaped, rows)]
        lines += [".fi"] if literal else []
    return lines


def escaped(text: str) -> str:
    """Text for roff: no line of it is a request, and no character starts an escape. Pure."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    plain = (
        plain.replace("→", "->").replace("·", "\\(bu").replace("~", "\\(ti").replace("^", "\\(ha")
    )
    plain = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in plain)
    return f"\\&{plain}" if plain[:1] in (".", "'") else plain
