"""A script's wish → the program of this host that runs it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wardian.runner.script import Wish

_NODE_STRIPS_TYPES = (22, 18)
_NODE_CAN_STRIP_TYPES = (22, 6)

_VERSION = frozenset("0123456789.<>=!~,* ")


class Runner(NamedTuple):
    """The words before the script's path; ``kind`` is what it turned out to be run by."""

    argv: tuple[str, ...]
    kind: str


class Missing(NamedTuple):
    """What this host lacks, in a sentence, and what to do about it."""

    program: str
    why: str
    hint: str


# name → program, words after it, how to get it
_PROGRAMS = {
    "sh": ("sh", (), "apt install dash"),
    "bash": ("bash", (), "apt install bash"),
    "zsh": ("zsh", (), "apt install zsh"),
    "ruby": ("ruby", (), "apt install ruby"),
    "perl": ("perl", (), "apt install perl"),
    "r": ("Rscript", (), "apt install r-base-core"),
    "node": ("node", (), "apt install nodejs, or https://nodejs.org"),
    # The sandbox decides what it may reach; Deno's own questions could not be answered inside.
    "deno": ("deno", ("run", "--allow-all", "--no-prompt"), "https://deno.com"),
    "bun": ("bun", ("run",), "https://bun.sh"),
}


def runner_for(wish: Wish, path: str, env: Mapping[str, str]) -> Runner | Missing:
    """What to start; ``path`` is the script's, as the run will see it."""
    if wish.name == "elf":
        return Runner((), "elf")
    if wish.name == "python":
        return _python(wish, env)
    if wish.name == "node" and path.endswith((".ts", ".mts", ".cts")):
        return _typescript(wish, env)
    program, words, source = _PROGRAMS[wish.name]
    if not _installed(program, env):
        return Missing(program, f"{program} is not installed", f"install it: {source}")
    return Runner((program, *words, *wish.options), wish.name)


def runner_in_root(wish: Wish) -> Runner:
    """What to start where the root has interpreters of its own, and the host's don't count."""
    program, words, _ = _PROGRAMS.get(wish.name, ("python3", (), ""))
    return Runner(() if wish.name == "elf" else (program, *words, *wish.options), wish.name)


def _installed(program: str, env: Mapping[str, str]) -> bool:
    from wardian.sandbox.root.programs import on_path

    return on_path(program, env) is not None


def _python(wish: Wish, env: Mapping[str, str]) -> Runner | Missing:
    if wish.version in (None, "3") and _installed("python3", env):
        return Runner(("python3", *wish.options), "python")
    from wardian.runner import pythons

    version = wish.version or "3"
    found = pythons.find(version, env)
    if found is not None:
        return Runner((found.path, *wish.options), "python")
    why = f"no Python here is {version}" if wish.version else "python3 is not installed"
    return Missing("python", why, _python_hint(version, env))


def _python_hint(version: str, env: Mapping[str, str]) -> str:
    """With uv that Python can be fetched; or one that is here will do. A script names the version,
    and gets no option of uv's into a line that is there to be pasted."""
    from wardian.runner import pythons
    from wardian.text import quoted

    uv = (
        "fetch it"
        if _installed("uv", env)
        else "install uv (https://docs.astral.sh/uv) and fetch it"
    )
    here = pythons.find(">=3.8", env)
    offers = [f"{uv}: uv python install {quoted(version)}"] if _VERSION.issuperset(version) else []
    if here is not None:
        offers.append("use one that is here: --python {}.{}".format(*here.version))
    return "; or ".join(offers)


def _typescript(wish: Wish, env: Mapping[str, str]) -> Runner | Missing:
    """Node strips types by default from 22.18 on, and with an option from 22.6 on."""
    for node in _nodes(env):
        version = _node_version(node)
        if version >= _NODE_STRIPS_TYPES:
            return Runner((node, *wish.options), "node")
        if version >= _NODE_CAN_STRIP_TYPES:
            return Runner((node, "--experimental-strip-types", "--no-warnings"), "node")
    for other in ("deno", "bun"):
        if _installed(other, env):
            return Runner((other, *_PROGRAMS[other][1]), other)
    return Missing(
        "node",
        "no Node here runs TypeScript",
        "install Node 22.18 or later (https://nodejs.org), or Deno, or Bun",
    )


def _nodes(env: Mapping[str, str]) -> list[str]:
    from wardian.sandbox.root.programs import on_path

    first = on_path("node", env)
    found = [first] if first is not None else []
    root = os.path.join(env.get("NVM_DIR") or os.path.expanduser("~/.nvm"), "versions/node")
    try:
        kept = sorted(os.listdir(root), key=_numbers, reverse=True)
    except OSError:
        kept = []
    folders = [os.path.join(root, name, "bin") for name in kept]
    more = (on_path("node", {"PATH": folder}) for folder in folders)
    return found + [node for node in more if node is not None]


def _node_version(node: str) -> tuple[int, ...]:
    """Asked of the program itself, in a sandbox: whoever could write it decides nothing else."""
    from wardian.errors import SandboxError
    from wardian.sandbox.policy.policy import Policy
    from wardian.sandbox.sandbox import Sandbox

    policy = Policy.default().with_limits(time_s=10.0)
    try:
        with Sandbox(policy, private_work=True) as sandbox:
            said = sandbox.run([node, "--version"]).stdout
    except SandboxError:
        return (0,)
    return _numbers(said[:64].decode("ascii", "replace"))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in text.strip().lstrip("v").split("."))
