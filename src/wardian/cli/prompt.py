"""The prompt of an interactive shell in the sandbox, which shows that one is inside."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing typing costs half a start of Python
if TYPE_CHECKING:
    from collections.abc import Sequence

# What shows the directory, and ends with $ or #, in each shell.
_PROMPTS = {
    "bash": r"({name}) \w\$ ",
    "zsh": "({name}) %~%# ",
    "sh": "({name}) $ ",
    "dash": "({name}) $ ",
    "ash": "({name}) $ ",
    "busybox": "({name}) $ ",
    "ksh": "({name}) $ ",
    "mksh": "({name}) $ ",
}


def prompt_variables(argv: Sequence[str], *, sandbox: str = "") -> dict[str, str]:
    """Variables that change the prompt of a shell that is started to type into; none for any other
    command. A start-up file inside may override them. Pure."""
    shell = os.path.basename(argv[0]).lstrip("-") if argv else ""
    if shell not in _PROMPTS or not _is_interactive(argv[1:]):
        return {}
    name = f"wardian {sandbox}" if sandbox else "wardian"
    # Debian's /etc/bash.bashrc sets PS1 itself, and puts this variable before it.
    return {"PS1": _PROMPTS[shell].format(name=name), "debian_chroot": name}


def _is_interactive(words: Sequence[str]) -> bool:
    """Options only, and none that names a command or a script."""
    for word in words:
        if not word.startswith(("-", "+")) or word == "--":
            return False
        if not word.startswith("--") and "c" in word:
            return False
    return True
