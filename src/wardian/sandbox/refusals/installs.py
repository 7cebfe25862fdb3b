"""What a package tool was asked to install, read from command lines of the guest's own choosing.
Nothing is looked up, and a word is repeated only if it is a package's name, with a version at most.
Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_PACKAGES = 12
MAX_NAME = 100
_VERSION = r"(==|>=|<=|~=|!=|<|>)[A-Za-z0-9.*+!]+"
_PYTHON = re.compile(
    rf"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9,._-]+\])?({_VERSION}(,{_VERSION})*)?"
)
_NODE = re.compile(r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*(@[A-Za-z0-9^~<>=*.-]+)?")
_INTERPRETERS = re.compile(r"(python|pypy)[0-9.]*|node|nodejs")
# The tool that a script of this name is.
_TOOLS = {
    "pip": "pip", "__pip-runner__": "pip", "uv": "uv", "uvx": "uvx", "npm": "npm",
    "npm-cli": "npm", "npx": "npx", "npx-cli": "npx", "pnpm": "pnpm", "pnpx": "pnpx",
    "yarn": "yarn", "yarnpkg": "yarn",
}  # fmt: skip
# Words after the tool's name that ask for packages: how its positional words are to be read.
_ALL, _FIRST, _NONE = "all", "first", "none"
_ASKING = {
    ("pip", "install"): _ALL, ("pip", "download"): _ALL, ("pip", "wheel"): _ALL,
    ("uv", "pip", "install"): _ALL, ("uv", "add"): _ALL, ("uv", "run"): _NONE,
    ("uv", "sync"): _NONE, ("uv", "tool", "run"): _FIRST, ("uv", "tool", "uvx"): _FIRST,
    ("uv", "tool", "install"): _FIRST, ("uvx",): _FIRST,
    ("npm", "install"): _ALL, ("npm", "i"): _ALL, ("npm", "add"): _ALL, ("npm", "ci"): _NONE,
    ("npm", "exec"): _FIRST, ("npm", "x"): _FIRST, ("npx",): _FIRST,
    ("pnpm", "add"): _ALL, ("pnpm", "install"): _ALL, ("pnpm", "i"): _ALL,
    ("pnpm", "dlx"): _FIRST, ("pnpx",): _FIRST,
    ("yarn", "add"): _ALL, ("yarn", "install"): _NONE, ("yarn", "dlx"): _FIRST,
}  # fmt: skip
# Options that name a package, those that name a file or folder full of them, and those whose value
# is another word that names none.
_NAMING = ("--with", "--from", "--package")
_FILES = ("-r", "--requirement", "-e", "--editable", "--with-requirements", "--with-editable")
_VALUED = frozenset((
    "-c", "--constraint", "-i", "--index-url", "--extra-index-url", "--index",
    "--default-index", "-f", "--find-links", "-t", "--target", "--prefix", "--root", "--src",
    "--python", "--python-version", "--platform", "--implementation", "--abi", "--timeout",
    "--retries", "--proxy", "--trusted-host", "--cert", "--client-cert", "--cache-dir", "--log",
    "--progress-bar", "--upgrade-strategy", "--no-binary", "--only-binary", "-C",
    "--config-settings", "--report", "--extra", "--group", "--directory", "--project",
    "--index-strategy", "--exclude-newer", "--registry", "--tag", "-w", "--workspace", "--omit",
    "--include", "--loglevel", "--cache", "--call", "--cwd", "--dir",
))  # fmt: skip


class PackageRequest(NamedTuple):
    """``packages`` are those that can be named; there may be others, from files for example."""

    tool: str
    ecosystem: str  # python or node
    packages: tuple[str, ...]
    others: bool = False


def package_request(commands: Sequence[Sequence[str]]) -> PackageRequest | None:
    """What the first of these processes, the nearest first, asks an index for; None if it is no
    package tool. A tool that the same tool started stands for what that was asked for."""
    asked = _read(commands[0]) if commands else None
    if asked is None:
        return None
    above = [found for words in commands[1:] if (found := _read(words)) is not None]
    return next((one for one in reversed(above) if one.tool == asked.tool), asked)


def _read(words: Sequence[str]) -> PackageRequest | None:
    words = _from_tool(words)
    for length in (3, 2, 1):
        how = _ASKING.get(tuple(words[:length]))
        if how is not None and len(words) >= length:
            return _request(words[0], words[length:], how)
    return None


def _from_tool(words: Sequence[str]) -> list[str]:
    """The command line from the tool's name on; empty if it is none's."""
    if len(words) == 1:  # npm writes its own title: one word of all
        words = words[0].split()
    left = list(words)
    if left and _INTERPRETERS.fullmatch(_base(left[0])):
        left.pop(0)
        while left and left[0].startswith("-"):
            option = left.pop(0)
            if option == "-m":
                break
            if not re.fullmatch(r"-[A-Za-z]{1,4}", option) or "c" in option:
                return []
    tool = _TOOLS.get(_base(left[0])) if left else None
    if tool is None:
        return []
    rest = left[1:]
    while rest and rest[0].startswith("-") and tool not in ("npx", "uvx", "pnpx"):
        rest = rest[2:] if rest[0] in _VALUED else rest[1:]
    return [tool, *rest]


def _base(word: str) -> str:
    name = word.rpartition("/")[2]
    for ending in (".js", ".cjs", ".mjs", ".py"):
        name = name.removesuffix(ending)
    return "pip" if re.fullmatch(r"pip3?(\.[0-9]+)?", name) else name


def _request(tool: str, words: Sequence[str], how: str) -> PackageRequest:
    ecosystem = "python" if tool in ("pip", "uv", "uvx") else "node"
    form = _PYTHON if ecosystem == "python" else _NODE
    named = [value for option, value in _options(words) if option in _NAMING]
    free = [value for option, value in _options(words) if not option]
    runs = how == _FIRST
    if not (runs and named):  # what is run comes from the packages that were named
        named += free[:1] if runs else free if how == _ALL else []
    fit = [word for word in named if len(word) <= MAX_NAME and form.fullmatch(word)]
    kept = tuple(dict.fromkeys(fit))[:MAX_PACKAGES]
    others = not kept or len(kept) < len(set(named))
    others |= any(option in _FILES for option, _ in _options(words))
    return PackageRequest(tool, ecosystem, kept, others)


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options with their values, and free words with an empty option."""
    waiting = ""
    for word in words:
        if waiting:
            yield waiting, word
            waiting = ""
        elif word.startswith("--") and "=" in word:
            option, _, value = word.partition("=")
            yield option, value
        elif word in _VALUED or word in _NAMING or word in _FILES:
            waiting = word
        elif not word.startswith("-"):
            yield "", word
