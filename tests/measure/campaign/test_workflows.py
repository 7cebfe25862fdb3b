"""The workflows: valid, least privileged, and calling commands and options that exist."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from wardian.cli.commands import COMMANDS, group

ROOT = Path(__file__).parents[3]
PLAIN = sorted((ROOT / ".github/workflows").glob("*.yml"))
AGENTIC = sorted((ROOT / ".github/workflows").glob("*.md"))
PROMPTS = ROOT / ".github" / "agentics"
SAFE_OUTPUTS = {"create-pull-request", "add-comment", "create-issue", "noop"}
# What a workflow of GitHub's own has as well; the rest of the frontmatter is the agent's.
SHARED = ("name", "on", "permissions", "env", "concurrency")


def load(text: str) -> dict[Any, Any]:
    document: dict[Any, Any] = yaml.safe_load(text)
    return {("on" if key is True else key): value for key, value in document.items()}


def frontmatter(path: Path) -> tuple[dict[Any, Any], str]:
    found = re.fullmatch(r"---\n(.*?)\n---\n(.*)", path.read_text(), re.DOTALL)
    assert found is not None, "no frontmatter"
    return load(found[1]), found[2]


def steps(document: dict[Any, Any]) -> list[dict[str, Any]]:
    jobs = document.get("jobs", {"agent": document})
    return [step for job in jobs.values() for step in job.get("steps", [])]


def documents() -> list[Any]:
    plain = [pytest.param(load(path.read_text()), id=path.name) for path in PLAIN]
    return plain + [pytest.param(frontmatter(path)[0], id=path.name) for path in AGENTIC]


def test_there_is_a_plain_nightly_and_an_agentic_one_with_its_prompt() -> None:
    assert "nightly.yml" in [path.name for path in PLAIN]
    assert [path.name for path in AGENTIC] == ["nightly-syscall-tests.md"]
    assert (PROMPTS / "nightly-syscall-tests.md").exists()


def check(paths: list[str]) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows",
         *paths],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_plain_workflows_are_as_the_schema_says() -> None:
    check([str(path) for path in PLAIN])


def test_what_an_agentic_workflow_shares_with_a_plain_one_is_as_the_schema_says(
    tmp_path: Path,
) -> None:
    for path in AGENTIC:
        document, _ = frontmatter(path)
        shared = {key: document[key] for key in SHARED if key in document}
        job = {"runs-on": "ubuntu-24.04", "steps": document["steps"]}
        target = tmp_path / f"{path.stem}.json"
        target.write_text(json.dumps({**shared, "jobs": {"agent": job}}))
        check([str(target)])


@pytest.mark.parametrize("document", documents())
def test_no_job_may_write_more_than_pages(document: dict[Any, Any]) -> None:
    jobs = document.get("jobs", {})
    given = [document["permissions"], *(job.get("permissions", {}) for job in jobs.values())]
    for permissions in given:
        assert isinstance(permissions, dict)
        writes = {name for name, level in permissions.items() if level == "write"}
        assert writes <= {"pages", "id-token"}


@pytest.mark.parametrize("document", documents())
def test_actions_are_named_with_a_version_and_nothing_of_others_enters_a_script(
    document: dict[Any, Any],
) -> None:
    for step in steps(document):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z/-]+@v\d+", step["uses"])
        assert "${{" not in step.get("run", ""), "by way of the environment, not of the text"


@pytest.mark.parametrize("document", documents())
def test_scripts_are_shell_and_what_they_call_of_wardian_exists(document: dict[Any, Any]) -> None:
    called = set()
    for step in steps(document):
        script = step.get("run", "")
        bash = shutil.which("bash") or "sh"
        done = subprocess.run(
            [bash, "-n"], input=script, capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, done.stderr
        for line in script.splitlines():
            if line.strip().startswith("wardian "):
                called.add(_parsed(line))
    assert "nightly" in called


def _parsed(line: str) -> str:
    words = shlex.split(line.split("||", maxsplit=1)[0])[1:]
    words = [word.replace("$BUDGET", "30m") for word in words if word not in ("$OPEN", "$open")]
    if words[0] not in COMMANDS:
        assert words[0] == "report"  # the pages of another part, which need not be there yet
        return words[0]
    command: click.Command | None = group
    context = click.Context(group)
    while isinstance(command, click.Group):
        command = command.get_command(context, words.pop(0))
    assert command is not None
    command.make_context(command.name, words)
    return str(command.name)


def test_the_agent_reads_only_and_speaks_by_safe_outputs() -> None:
    for path in AGENTIC:
        document, body = frontmatter(path)
        assert set(document["permissions"].values()) == {"read"}
        assert set(document["safe-outputs"]) == SAFE_OUTPUTS
        outputs = [one for one in document["safe-outputs"].values() if one]
        assert all(one["max"] == 1 for one in outputs)
        assert document["network"]["allowed"]
        assert "*" not in document["network"]["allowed"]
        assert document["timeout-minutes"] <= 60
        found = re.search(r"\{\{#runtime-import (\S+)\}\}", body)
        assert found is not None
        assert (ROOT / found[1]).exists()


def test_the_prompt_names_only_what_the_nightly_writes() -> None:
    from wardian.measure.pages.documents.decision import ACTIONS

    text = (PROMPTS / "nightly-syscall-tests.md").read_text()
    for action in ACTIONS:
        assert f"`{action}`" in text
    for name in SAFE_OUTPUTS:
        assert f"`{name}`" in text or name in text
    for name in ("decision.json", "evaluation.json", "SYSCALL_ANALYSIS.md", "decision.patch"):
        assert name in text
