"""A shell inside shows that it is inside: by its prompt, on a real terminal."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.test_terminal import Terminal
from wardian.cli.prompt import prompt_variables


@pytest.mark.parametrize(
    ("shell", "prompt"),
    [
        ("sh", "(wardian) $ "),
        ("dash", "(wardian) $ "),
        ("bash", "(wardian) /work$ "),
        ("bash --norc", "(wardian) /work$ "),
        ("zsh -f", "(wardian) /work% "),
    ],
)
def test_the_prompt_of_a_shell_shows_that_it_is_inside(shell: str, prompt: str) -> None:
    if shutil.which(shell.partition(" ")[0]) is None:
        pytest.skip(f"{shell} is not installed")
    terminal = Terminal("--", *shell.split())
    terminal.until(prompt)
    terminal.type("exit\n")
    terminal.until("exit")


def test_the_caller_and_a_start_up_file_may_override_it(tmp_path: Path) -> None:
    terminal = Terminal("--env", "PS1=mine> ", "--", "sh")
    assert "wardian" not in terminal.until("mine> ")
    terminal.type("exit\n")
    (tmp_path / "rc").write_text("PS1='theirs> '\n")
    rc = tmp_path / "rc"
    terminal = Terminal("--read", f"{rc}:/home/user/.bashrc", "--", "bash")
    assert "wardian" not in terminal.until("theirs> ")
    terminal.type("exit\n")


@pytest.mark.parametrize(
    "command", ["bash -c true", "sh script.sh", "sh -ec true", "python3", "bash -- x", "zsh -fc x"]
)
def test_other_commands_get_no_prompt(command: str) -> None:
    assert prompt_variables(command.split()) == {}


def test_a_living_sandbox_is_named() -> None:
    assert prompt_variables(["/bin/bash", "-l"], sandbox="dev")["PS1"].startswith("(wardian dev) ")
