"""``wardian completion``: completion scripts for bash, zsh and fish.

The scripts are static: they hold every command, option and fixed value, and start no process.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

import click

from wardian.cli import output
from wardian.cli.walking import Node, walk

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    epilog="""\b
Examples:
  wardian completion bash > ~/.local/share/bash-completion/completions/wardian
  wardian completion zsh > ~/.zfunc/_wardian      # a directory of $fpath
  wardian completion fish > ~/.config/fish/completions/wardian.fish

\b
Or for every new shell, in ~/.bashrc or (after compinit) in ~/.zshrc:
  source <(wardian completion bash)

\b
Exit code: 0 success, 2 usage.""",
)
@click.argument("shell", type=click.Choice(SHELLS), metavar="bash|zsh|fish")
def command(shell: str) -> None:
    """Print a completion script for bash, zsh or fish.

    It completes commands, options and values such as presets and backends, and file names
    elsewhere. Make it again after an upgrade.
    """
    made = {"bash": bash, "zsh": zsh, "fish": fish}[shell](walk())
    output.print_text(made.rstrip("\n"))


def values_of(option: click.Option) -> tuple[str, ...]:
    """The fixed values of an option; none if it takes anything, or nothing."""
    from wardian.sandbox.backends import NAMES
    from wardian.sandbox.policy.file import preset_names

    if isinstance(option.type, click.Choice):
        return tuple(map(str, option.type.choices))
    name = option.opts[-1]
    if name == "--policy":
        return tuple(preset_names())
    if name == "--tty":
        return ("auto", "yes", "no")
    return NAMES if name in ("--backend", "--in", "--oracle", "--baseline") else ()


def _takes_value(option: click.Option) -> bool:
    return not option.is_flag and not option.count


def _help(option: click.Option) -> str:
    """The first sentence of its help."""
    return (option.help or "").partition("  [")[0].partition(". ")[0].rstrip(".")


def _spellings(option: click.Option) -> list[str]:
    return [*option.opts, *option.secondary_opts]


def _branches(nodes: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """The steps from a command to its subcommands: ``policy:show``, ``policy show``."""
    for node in nodes:
        before, _, word = node.path.rpartition(" ")
        yield f"{before}:{word}", node.path


def _top(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in nodes if " " not in node.path]


def _walk(head: str, nodes: Sequence[Node], act: Callable[[str], str]) -> list[str]:
    """Lines that bash and zsh share: which command the words lead to, and the values of an option
    that has just been typed, which ``act`` offers."""
    lines = [head.rstrip("\n")]
    for step, path in _branches(nodes):
        lines.append(f"            {shlex.quote(step)}) at={shlex.quote(path)} ;;")
    lines += ["        esac", "    done", '    case "$at $prev" in']
    for node in nodes:
        for option in node.options:
            if _takes_value(option):
                patterns = "|".join(shlex.quote(f"{node.path} {one}") for one in _spellings(option))
                values = " ".join(values_of(option))
                lines.append(f"        {patterns}) {act(values)}return ;;")
    return lines


# bash


_BASH_HEAD = """\
# wardian: completion for bash. Made by `wardian completion bash`.
_wardian() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at="" i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --) return ;;
            -*) continue ;;
        esac
        case "$at:${COMP_WORDS[i]}" in
"""


def bash(nodes: Sequence[Node]) -> str:
    """The script for bash."""
    lines = _walk(
        _BASH_HEAD,
        nodes,
        lambda values: f'COMPREPLY=($(compgen -W "{values}" -- "$cur")); ' if values else "",
    )
    lines += ["    esac", '    local words="" options=""', '    case "$at" in']
    top = " ".join(node.path for node in _top(nodes))
    lines.append(f'        "") words="{top}" options="--help --version" ;;')
    for node in nodes:
        options = " ".join(one for option in node.options for one in _spellings(option))
        words = " ".join(_words(node))
        lines.append(f'        {shlex.quote(node.path)}) words="{words}" options="{options}" ;;')
    lines += [
        "    esac",
        "    [[ $cur == -* ]] && words=$options",
        '    COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -o bashdefault -o default -F _wardian wardian",
    ]
    return "\n".join(lines) + "\n"


def _words(node: Node) -> tuple[str, ...]:
    """What a first argument may be: a subcommand, a shell, a topic."""
    if node.path == "completion":
        return SHELLS
    if node.path == "help":
        from wardian.cli.help import topic_names

        return tuple(topic_names())
    return node.words


# zsh


_ZSH_HEAD = """\
#compdef wardian
# wardian: completion for zsh. Made by `wardian completion zsh`.
_wardian() {
    local cur=${words[CURRENT]} prev=${words[CURRENT-1]} at="" i
    local -a list
    for ((i = 2; i < CURRENT; i++)); do
        case ${words[i]} in
            --) _files; return ;;
            -*) continue ;;
        esac
        case "$at:${words[i]}" in
"""


def zsh(nodes: Sequence[Node]) -> str:
    """The script for zsh."""
    lines = _walk(
        _ZSH_HEAD, nodes, lambda values: f"compadd -- {values}; " if values else "_files; "
    )
    lines += ["    esac", "    if [[ $cur == -* ]]; then", '        case "$at" in']
    lines.append("            '') list=('--help:Show help' '--version:Print the version') ;;")
    for node in nodes:
        shown = (f"{one}:{_help(option)}" for option in node.options for one in _spellings(option))
        entries = " ".join(map(shlex.quote, shown))
        lines.append(f"            {shlex.quote(node.path)}) list=({entries}) ;;")
    lines += ["        esac", "        _describe -o option list", "        return", "    fi"]
    lines += ['    case "$at" in', f"        '') list=({_described(nodes, '')}) ;;"]
    for node in nodes:
        if _words(node):
            entries = _described(nodes, node.path) if node.words else " ".join(_words(node))
            lines.append(f"        {shlex.quote(node.path)}) list=({entries}) ;;")
    lines += [
        "        *) _files; return ;;",
        "    esac",
        "    _describe command list",
        "}",
        "if [[ ${funcstack[1]} == _wardian ]]",
        'then _wardian "$@"',
        "else compdef _wardian wardian",
        "fi",
    ]
    return "\n".join(lines) + "\n"


def _described(nodes: Sequence[Node], above: str) -> str:
    """``word:summary`` of the commands directly below one."""
    found = [node for node in nodes if node.path.rpartition(" ")[0] == above]
    return " ".join(
        shlex.quote(f"{node.path.rpartition(' ')[2]}:{node.summary.rstrip('.')}") for node in found
    )


# fish


_FISH_HEAD = """\
# wardian: completion for fish. Made by `wardian completion fish`.
function __wardian_at
    set -l at
    for word in (commandline -opc)[2..]
        switch $word
            case '--'
                return 1
            case '-*'
                continue
        end
        switch "$at:$word"
"""


def fish(nodes: Sequence[Node]) -> str:
    """The script for fish."""
    lines = [_FISH_HEAD.rstrip("\n")]
    for step, path in _branches(nodes):
        lines += [f"            case {_fish(step)}", f"                set at {_fish(path)}"]
    lines += ["        end", "    end", '    test "$at" = "$argv[1]"', "end"]
    for node in _top(nodes):
        lines.append(_fish_line("", f"-f -a {node.path}", node.summary))
    for node in nodes:
        for word in _words(node):
            inner = next((one for one in nodes if one.path == f"{node.path} {word}"), None)
            lines.append(_fish_line(node.path, f"-f -a {word}", inner.summary if inner else ""))
        for option in node.options:
            names = [
                f"-l {one[2:]}" if one.startswith("--") else f"-s {one[1:]}"
                for one in _spellings(option)
            ]
            values = " ".join(values_of(option))
            takes = f" -x -a {_fish(values)}" if values else " -r" if _takes_value(option) else ""
            lines.append(_fish_line(node.path, " ".join(names) + takes, _help(option)))
    return "\n".join(lines) + "\n"


def _fish_line(path: str, what: str, text: str) -> str:
    condition = f"__wardian_at {_fish(path)}"
    shown = f" -d {_fish(text.rstrip('.'))}" if text else ""
    return f"complete -c wardian -n {_fish(condition)} {what}{shown}"


def _fish(text: str) -> str:
    """A single-quoted string of fish, where only the backslash and the quote are special. Pure."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
