"""Help by topic, suggestions for what was mistyped, defaults, completion scripts, the man page."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import click
import pytest

from tests.command import Wardian
from wardian.cli.commands import COMMANDS, GROUPS, group
from wardian.cli.help import read_topic, topic_names
from wardian.cli.manual import escaped
from wardian.cli.walking import Node, walk

TOPICS = ("exit-codes", "policy", "network", "limits", "refusals", "backends", "environment",
          "configuration")  # fmt: skip
NODES = {node.path: node for node in walk()}


def test_help_lists_commands_by_group(wardian: Wardian) -> None:
    text = wardian("--help").stdout
    at = [text.index(f"\n{title}:\n") for title in GROUPS]
    assert at == sorted(at)
    assert list(GROUPS) == ["Run", "Inspect", "Skills", "Measure", "Host"]
    for name in COMMANDS:
        assert re.search(rf"^  {name} +[A-Z]", text, re.MULTILINE), name


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version_has_two_spellings(wardian: Wardian, option: str) -> None:
    assert re.fullmatch(r"wardian \d+\.\d+\.\d+\S*\n", wardian(option).stdout)


@pytest.mark.parametrize(
    ("args", "near"),
    [
        (("exce",), "`wardian exec`"),
        (("polcy", "show"), "`wardian policy`"),
        (("hist",), "`wardian history`"),
        (("policy", "shwo"), "`wardian policy show`"),
        (("cache", "prun"), "`wardian cache prune`"),
        (("doctor", "--jsn"), "--json"),
        (("exec", "--memry", "1G", "--", "true"), "--memory"),
        (("run", "--ofline", "x"), "--offline"),
    ],
)
def test_a_mistyped_word_is_suggested(wardian: Wardian, args: tuple[str, ...], near: str) -> None:
    done = wardian(*args)
    assert done.returncode in (2, 125)
    assert done.stdout == ""
    assert f"hint: did you mean {near}" in done.stderr
    assert "Did you mean" not in done.stderr


def test_what_resembles_nothing_gets_no_suggestion(wardian: Wardian) -> None:
    done = wardian("qqqqqq")
    assert "did you mean" not in done.stderr
    assert "hint: list commands with: wardian --help" in done.stderr


@pytest.mark.parametrize("topic", [*TOPICS, "environment-variables", "config", "EXIT-CODES"])
def test_a_topic_is_one_page_of_text(wardian: Wardian, topic: str) -> None:
    done = wardian("help", topic)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert 10 < len(lines) < 60
    assert max(map(len, lines)) <= 100


def test_topics_are_listed_and_an_unknown_one_is_suggested(wardian: Wardian) -> None:
    listed = wardian("help").stdout
    assert all(f"\n  {name} " in listed for name in topic_names())
    done = wardian("help", "netwrok")
    assert (done.returncode, done.stdout) == (3, "")
    assert "did you mean `wardian help network`" in done.stderr
    document = json.loads(wardian("help", "limits", "--json").stdout)
    assert (document["schema"], document["topic"]) == ("wardian.help/1", "limits")


def test_help_of_a_command_is_its_help(wardian: Wardian) -> None:
    one, other = wardian("help", "policy", "diff"), wardian("policy", "diff", "--help")
    assert one.stdout.split() == other.stdout.split()
    assert wardian("help", "exec").stdout.startswith("Usage: wardian exec ")


def test_every_command_and_option_that_topics_name_exists() -> None:
    options = {name for node in NODES.values() for one in node.options for name in one.opts}
    for topic in topic_names():
        text = read_topic(topic)
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--norc"}
        assert named <= options, topic
        for name in re.findall(r"(?:`|^ +)wardian ([a-z]+) ", text, re.MULTILINE):
            assert name in COMMANDS, topic


@pytest.mark.parametrize("path", list(NODES))
def test_defaults_are_shown_and_no_internal_names(path: str) -> None:
    node = NODES[path]
    context = click.Context(node.command, info_name=f"wardian {path}", max_content_width=100)
    text = node.command.get_help(context)
    assert not re.search(r"\b(opt|argument|grant)_\w+", text)
    assert "unless given" not in text
    for option in node.options:
        shown = " ".join((option.get_help_record(context) or ("", ""))[1].split())
        unset = (
            option.default is None or option.is_flag or option.multiple or option.default in ("", 0)
        )
        if not unset and not callable(option.default) and "Sentinel" not in repr(option.default):
            assert "default: " in shown, option.opts


def test_the_options_of_a_run_show_the_shipped_defaults() -> None:
    from wardian.cli.options import POLICY_OPTIONS
    from wardian.sandbox.policy.policy import Policy

    shown = {option.name: option.default for option in POLICY_OPTIONS}
    limits = Policy.default().to_toml()
    for name in ("time", "cpu", "memory", "processes", "files", "disk", "output"):
        value = re.search(rf"^{name} = \"?([\w.]+)\"?", limits.partition("[limits]")[2], re.M)
        assert value is not None
        assert shown[name] == value[1]


def test_presets_have_descriptions(wardian: Wardian) -> None:
    lines = wardian("policy", "presets").stdout.splitlines()
    assert all(re.match(r"[a-z-]+ +\S.{20,}", line) for line in lines)
    document = json.loads(wardian("policy", "presets", "--json").stdout)
    assert sorted(document["presets"]) == sorted(document["descriptions"])


# The man page


def test_the_man_page_is_valid_roff(wardian: Wardian, tmp_path: Path) -> None:
    done = wardian("help", "--man")
    page = tmp_path / "wardian.1"
    page.write_text(done.stdout)
    assert done.stdout.splitlines()[1].startswith(".TH WARDIAN 1 ")
    for line in done.stdout.splitlines():
        assert not line.startswith(".") or line.split()[0] in (
            ".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".I", ".RI", ".nf", ".fi", '.\\"',
        ), line  # fmt: skip
    sections = [line for line in done.stdout.splitlines() if line.startswith(".SH ")]
    assert sections[:4] == [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH COMMANDS"]
    assert ".SH EXIT CODES" in sections
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    made = subprocess.run(
        ["groff", "-man", "-ww", "-Tascii", str(page)], capture_output=True, text=True, check=True
    )
    assert made.stderr == ""
    plain = re.sub(r".\x08|\x1b\[\d*m", "", made.stdout)
    assert "--allow-syscall NAME" in plain
    assert "125   wardian refused the run" in plain


def test_text_that_roff_would_obey_is_escaped() -> None:
    assert escaped(".TH evil") == "\\&.TH evil"
    assert escaped("'x") == "\\&'x"
    assert escaped("a\\fB-b") == "a\\efB\\-b"


# Completion


def completed(script: str, *words: str) -> set[str]:
    """What bash would offer for the last of these words."""
    quoted = " ".join(f"'{word}'" for word in words)
    driver = (
        f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _wardian; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", driver], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_values(wardian: Wardian) -> None:
    script = wardian("completion", "bash").stdout
    assert completed(script, "wardian", "") == set(COMMANDS)
    assert completed(script, "wardian", "ex") == {"exec"}
    assert completed(script, "wardian", "policy", "") == {"show", "diff", "presets"}
    assert completed(script, "wardian", "exec", "--mem") == {"--memory"}
    assert completed(script, "wardian", "exec", "--backend", "b") == {"bubblewrap"}
    assert "default" in completed(script, "wardian", "exec", "--policy", "")
    assert completed(script, "wardian", "exec", "--work", "") == set()  # then bash offers files
    assert completed(script, "wardian", "exec", "--", "--mem") == set()
    assert completed(script, "wardian", "policy", "show", "--net", "x", "--ti") == {"--time"}
    assert "limits" in completed(script, "wardian", "help", "li")
    assert completed(script, "wardian", "--vers") == {"--version"}


def test_the_bash_script_can_be_sourced_from_a_profile(wardian: Wardian, tmp_path: Path) -> None:
    path = tmp_path / "completion"
    path.write_text(wardian("completion", "bash").stdout)
    done = subprocess.run(
        ["bash", "--norc", "-eu", "-c", f"source {path}; complete -p wardian"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "-F _wardian wardian" in done.stdout


def typed_in_zsh(script: Path, text: str, wanted: str) -> str:
    """What a real zsh shows for a line that is typed into it, until ``wanted`` appears."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "dumb", "PS1": "> ", "ZDOTDIR": str(script.parent)}
        os.execvp("zsh", ["zsh", "-f", "-i"])  # noqa: S606
    seen = ""
    try:
        start = f"autoload -U compinit; compinit -D -u; source {script}; echo rea''dy\n"
        os.write(fd, start.encode())
        sent, deadline = False, time.monotonic() + 30
        while time.monotonic() < deadline and (not sent or wanted not in seen):
            if select.select([fd], [], [], 0.2)[0]:
                seen += os.read(fd, 4096).decode(errors="replace")
            if not sent and "ready\r\n" in seen:
                seen, sent = "", True
                os.write(fd, text.encode())
    finally:
        os.close(fd)
        os.waitpid(pid, 0)
    return seen


def test_zsh_completes_commands_and_options(wardian: Wardian, tmp_path: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    script = tmp_path / "_wardian"
    script.write_text(wardian("completion", "zsh").stdout)
    assert "wardian policy" in typed_in_zsh(script, "wardian poli\t", "wardian policy")
    assert "--memory" in typed_in_zsh(script, "wardian exec --memo\t", "--memory")
    assert "bubblewrap" in typed_in_zsh(script, "wardian exec --backend bub\t", "bubblewrap")
    shown = typed_in_zsh(script, "wardian policy \t\t", "presets")
    assert "presets" in shown


def test_fish_completes_commands_and_options(wardian: Wardian, tmp_path: Path) -> None:
    script = wardian("completion", "fish").stdout
    assert script.count("complete -c wardian") > 300
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    path = tmp_path / "wardian.fish"
    path.write_text(script)
    for line, wanted in (("wardian poli", "policy"), ("wardian exec --memo", "--memory")):
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert wanted in done.stdout


@pytest.mark.parametrize("shell", ["", "tcsh"])
def test_another_shell_is_a_usage_error(wardian: Wardian, shell: str) -> None:
    assert wardian("completion", *([shell] if shell else [])).returncode == 2


def test_every_option_is_in_every_script(wardian: Wardian) -> None:
    for shell in ("bash", "zsh", "fish"):
        script = wardian("completion", shell).stdout
        for node in NODES.values():
            for name in (name for option in node.options for name in option.opts):
                assert (f"-l {name[2:]}" if shell == "fish" and name[:2] == "--" else name[1:]) in (
                    script
                )


def test_nodes_are_all_commands() -> None:
    assert {path for path in NODES if " " not in path} == set(COMMANDS)
    assert isinstance(group, click.Group)
    assert isinstance(NODES["policy show"], Node)
