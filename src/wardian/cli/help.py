"""``wardian help``: a page of text on one topic, and the man page."""

from __future__ import annotations

import os

import click

from wardian.cli import output
from wardian.errors import NothingMatched

TOPICS = os.path.join(os.path.dirname(__file__), "topics")
ALIASES = {
    "environment-variables": "environment",
    "variables": "environment",
    "config": "configuration",
    "settings": "configuration",
    "exit": "exit-codes",
    "policies": "policy",
    "backend": "backends",
    "limit": "limits",
    "shell": "prompt",
}
SCHEMA = "wardian.help/1"


@click.command(
    "help",
    epilog="""\b
Examples:
  wardian help
  wardian help exit-codes
  wardian help exec
  wardian help --man | man -l -

\b
Exit code: 0 success, 2 usage, 3 no such topic.""",
)
@click.argument("words", nargs=-1, metavar="[TOPIC|COMMAND]")
@click.option("--man", "as_man", is_flag=True, help="Print the man page wardian(1) as roff.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], as_man: bool, as_json: bool) -> None:
    """Explain a topic, or show the help of a command. Without TOPIC, list the topics."""
    if as_man:
        from wardian.cli.manual import man_page

        output.print_text(man_page().rstrip("\n"))
    elif not words:
        _list(as_json=as_json)
    elif len(words) == 1 and _named(words[0]) is not None:
        name = str(_named(words[0]))
        text = read_topic(name)
        if as_json:
            output.print_json({"schema": SCHEMA, "topic": name, "text": text})
        else:
            output.print_text(text.rstrip("\n"))
    else:
        _command_help(ctx, words)


def topic_names() -> list[str]:
    """The topics that ship with wardian."""
    return sorted(name.removesuffix(".txt") for name in os.listdir(TOPICS) if name.endswith(".txt"))


def read_topic(name: str) -> str:
    """The text of a topic."""
    with open(os.path.join(TOPICS, f"{name}.txt"), encoding="utf-8") as file:
        return file.read()


def titles() -> dict[str, str]:
    """Each topic with what it is about, from its first line: ``Title: what it is about``."""
    heads = {name: read_topic(name).partition("\n")[0] for name in topic_names()}
    return {name: head.partition(": ")[2] for name, head in heads.items()}


def _named(word: str) -> str | None:
    name = ALIASES.get(word.lower(), word.lower())
    return name if name in topic_names() else None


def _list(*, as_json: bool) -> None:
    found = titles()
    if as_json:
        output.print_json({"schema": SCHEMA, "topics": found})
        return
    width = max(map(len, found))
    output.print_text("Topics, shown by `wardian help TOPIC`:\n")
    for name, title in found.items():
        output.print_text(f"  {name:<{width}}  {title}")
    output.print_text("\nOptions of a command: wardian COMMAND --help")


def _command_help(ctx: click.Context, words: tuple[str, ...]) -> None:
    """``wardian help policy show`` is ``wardian policy show --help``. Raises NothingMatched."""
    from wardian.cli.commands import COMMANDS, group, suggestions

    known = [*topic_names(), *COMMANDS]
    at: click.Command = group
    outer = ctx.parent or ctx
    for word in words:
        found = at.get_command(outer, word) if isinstance(at, click.Group) else None
        if found is None:
            near = suggestions(word, known)
            hint = "did you mean " + " or ".join(f"`wardian help {one}`" for one in near) + "?"
            raise NothingMatched(
                f"no help on {' '.join(words)!r}",
                hint=hint if near else "list topics: wardian help",
            )
        outer = click.Context(found, info_name=word, parent=outer, max_content_width=100)
        at = found
    output.print_text(at.get_help(outer))
