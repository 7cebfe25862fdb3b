"""What is active where wardian is called is what programs inside find, in shell lines too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import call, environment
from wardian import Policy, Sandbox
from wardian.sandbox.root.active import active_environment

SYSTEM = "/usr/local/bin:/usr/bin:/bin"
LOOK = "import mine, sys; print(mine.X, sys.prefix)"
SHELLS = {
    "directly": ("python3", "-c", LOOK),
    "sh": ("sh", "-c", f"python3 -c '{LOOK}'"),
    "login": ("bash", "-lc", f"python -c '{LOOK}'"),
    "child": ("env", "sh", "-c", f"sh -c \"python3 -c '{LOOK}'\""),
}


def make_venv(place: Path, python: str = "") -> Path:
    """A real environment with one module in it."""
    command = [python or os.path.realpath(sys.executable), "-m", "venv", "--without-pip", place]
    subprocess.run(command, check=True)
    (packages,) = place.glob("lib/python3*/site-packages")
    (packages / "mine.py").write_text("X = 'mine'\n")
    return place


def wardian(tmp_path: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return call("exec", *words, cwd=tmp_path, env=environment(**env))


@pytest.mark.parametrize("how", SHELLS)
def test_a_venv_that_is_first_on_the_path_is_found(how: str, tmp_path: Path) -> None:
    venv = make_venv(tmp_path / "venv")
    path = f"{venv}/bin:{os.environ['PATH']}"
    done = wardian(tmp_path, "--", *SHELLS[how], PATH=path, VIRTUAL_ENV=str(venv))
    assert done.stdout == f"mine {venv}\n", done.stderr
    done = wardian(tmp_path, "--", *SHELLS[how])
    assert "No module named 'mine'" in done.stderr


def test_programs_learn_which_environment_it_is(tmp_path: Path) -> None:
    venv = make_venv(tmp_path / "venv")
    show = ("--", "sh", "-c", "echo $VIRTUAL_ENV $CONDA_PREFIX")
    names = {"VIRTUAL_ENV": str(venv), "CONDA_PREFIX": "/nonexistent"}
    done = wardian(tmp_path, *show, PATH=f"{venv}/bin:{SYSTEM}", **names)
    assert done.stdout == f"{venv}\n"
    # The variable alone activates nothing, neither outside nor inside.
    assert wardian(tmp_path, *show, PATH=SYSTEM, **names).stdout == "\n"


def test_conda_and_nvm_together(tmp_path: Path) -> None:
    for folder, mark, name in (
        ("conda", "conda-meta", "python3"),
        ("nvm", "lib/node_modules", "node"),
    ):
        (tmp_path / folder / mark).mkdir(parents=True)
        (tmp_path / folder / "bin").mkdir()
        program = tmp_path / folder / "bin" / name
        program.write_text(f"#!/bin/sh\necho {folder}: $0\n")
        program.chmod(0o755)
    path = f"{tmp_path}/conda/bin:{tmp_path}/nvm/bin:{SYSTEM}"
    done = wardian(tmp_path, "--", "sh", "-c", "python3; node", PATH=path)
    assert done.stdout == f"conda: {tmp_path}/conda/bin/python3\nnvm: {tmp_path}/nvm/bin/node\n"


def test_an_entry_does_not_come_before_what_the_caller_finds_first(tmp_path: Path) -> None:
    """Its node is the caller's, its python3 is not: the system's comes before."""
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("there is no python3 of the system")
    both = tmp_path / "both/bin"
    both.mkdir(parents=True)
    (tmp_path / "system").mkdir()
    (tmp_path / "system/python3").symlink_to("/usr/bin/python3")
    for name in ("python3", "node"):
        (both / name).write_text("#!/bin/sh\necho both\n")
        (both / name).chmod(0o755)
    found = active_environment({"PATH": f"{tmp_path}/system:{both}:/usr/bin"})
    assert str(both) in found.last
    assert str(both) not in found.first


def test_where_path_is_set_for_the_run_nothing_is_added(tmp_path: Path) -> None:
    venv = make_venv(tmp_path / "venv")
    path = f"{venv}/bin:{SYSTEM}"
    words = ("--env", "PATH=/usr/bin:/bin", "--", "sh", "-c", "echo $PATH; ls -d " + str(venv))
    done = wardian(tmp_path, *words, PATH=path)
    assert (done.stdout, done.returncode) == ("/usr/bin:/bin\n", 2)


def test_the_system_alone_needs_nothing(tmp_path: Path) -> None:
    assert active_environment({"PATH": SYSTEM}).sources == ()
    assert active_environment({"PATH": ""}).on("/bin") == "/bin"
    assert active_environment({"PATH": ".:relative:" + SYSTEM}).first == ()


# wardian's own


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="the tests do not run in a venv")
@pytest.mark.parametrize("other", [False, True])
def test_wardians_own_venv_is_never_the_guests(tmp_path: Path, other: bool) -> None:
    own = f"{sys.prefix}/bin"
    look = ("sh", "-c", "echo $PATH; echo $VIRTUAL_ENV; command -v python3")
    venv = make_venv(tmp_path / "venv")
    path = f"{own}:{venv}/bin:{SYSTEM}" if other else f"{own}:{SYSTEM}"
    done = wardian(tmp_path, "--", *look, PATH=path, VIRTUAL_ENV=sys.prefix)
    first, _, python = done.stdout.splitlines()
    assert own not in done.stdout
    assert python == (f"{venv}/bin/python3" if other else "/usr/bin/python3")
    assert first.startswith(f"{venv}/bin:") == other
    which = ("python3", "-c", "import sys; print(sys.prefix)")
    done = wardian(tmp_path, "--", *which, PATH=path, VIRTUAL_ENV=sys.prefix)
    assert done.stdout == f"{venv if other else '/usr'}\n", done.stderr
    # By a link to it, too.
    (tmp_path / "link").symlink_to(sys.prefix)
    done = wardian(tmp_path, "--", *look, PATH=f"{tmp_path}/link/bin:{path}")
    assert f"{tmp_path}/link" not in done.stdout
    # A program that is nowhere else can be named.
    alone = [
        name
        for name in os.listdir(own)
        if name == "ruff" and shutil.which(name, path=SYSTEM) is None
    ]
    for name in alone:
        assert wardian(tmp_path, "--", name, "--version", PATH=path).returncode == 0


# What a guest may have written


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own environment, that was shared for writing."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = tmp_path / "project"
    made.mkdir()
    make_venv(made / ".venv")
    private = tmp_path / "private"
    (private / "bin").mkdir(parents=True)
    (private / "lib/node_modules").mkdir(parents=True)
    (private / "secret").write_text("secret")
    shutil.copy("/bin/sh", private / "bin/python3")
    return made


def guest(project: Path, line: str) -> None:
    with Sandbox(Policy.default()._replace(work=str(project))) as sandbox:
        sandbox.run(["sh", "-c", line]).check()


@pytest.mark.parametrize(
    "line",
    ["true", "ln -sfn {private}/bin/python3 .venv/bin/python3",
     "rm -rf .venv && ln -s {private} .venv", "rm -rf .venv/bin && ln -s {private}/bin .venv/bin",
     "rm .venv/pyvenv.cfg && ln -s {private} .venv/lib64/x && ln -sfn {private} .venv/share"],
)  # fmt: skip
def test_an_environment_that_a_guest_could_write_is_not_shared(
    project: Path, tmp_path: Path, line: str
) -> None:
    private = tmp_path / "private"
    guest(project, line.format(private=private))
    path = f"{project}/.venv/bin:{SYSTEM}"
    look = "python3 -c 'import sys; print(sys.prefix)';"
    look += f" ls {private} {project}; cat {private}/secret; false"
    done = wardian(tmp_path, "--", "sh", "-c", look, PATH=path)
    assert done.stdout == "/usr\n", done.stdout + done.stderr
    assert f"PATH: {project}/.venv/bin was skipped" in done.stderr
    # What is printed shares what lies there, and nothing that links in it lead to.
    assert f"; to share it: --read {project}/.venv\n" in done.stderr
    done = wardian(tmp_path, "--read", f"{project}/.venv", "--", "sh", "-c", look, PATH=path)
    assert "secret" not in done.stdout
    if line == "true":
        assert done.stdout.startswith(f"{project}/.venv\n"), done.stdout + done.stderr
    # A run that goes well is not told of it.
    assert wardian(tmp_path, "--", "true", PATH=path).stderr == ""


def test_an_environment_in_the_work_directory_is_used_there(project: Path, tmp_path: Path) -> None:
    guest(project, "true")
    path = f"{project}/.venv/bin:{SYSTEM}"
    for words in (("exec",), ("exec", "--skill", str(tmp_path / "skill"))):
        (tmp_path / "skill").mkdir(exist_ok=True)
        (tmp_path / "skill/SKILL.md").write_text("---\nname: skill\ndescription: Made\n---\n")
        line = ("--work", str(project), "--", *SHELLS["sh"])
        done = call(*words, *line, cwd=tmp_path, env=environment(PATH=path))
        assert done.stdout == "mine /work/.venv\n", done.stderr


@pytest.mark.parametrize("name", ["uv", "uvx", "bun", "deno", "python3", "node"])
def test_a_tool_that_a_guest_left_is_not_shared(name: str, project: Path, tmp_path: Path) -> None:
    """Neither the link, nor what it leads to: a program of the caller's that is no secret's."""
    private = tmp_path / "private"
    shutil.copy("/bin/cat", private / "bin/tool")
    guest(project, f"mkdir bin && ln -s {private}/bin/tool bin/{name}")
    env = {"PATH": f"{project}/bin:{SYSTEM}"}
    found = active_environment(env)
    assert not [source for source in found.sources if str(private) in source.path]
    look = f"ls {project}/bin {private}; command -v {name} || echo none"
    done = wardian(tmp_path, "--", "sh", "-c", look, **env)
    assert str(project) not in done.stdout
    assert str(private) not in done.stdout


def test_a_tool_is_shared_as_a_single_file(tmp_path: Path) -> None:
    """What lies beside it, in another tool's environment, is not what python3 means."""
    tool = make_venv(tmp_path / "tools/uv")
    shutil.copy("/bin/echo", tool / "bin/uv")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/uv").symlink_to(tool / "bin/uv")
    env = {"PATH": f"{tmp_path}/bin:{SYSTEM}"}
    look = f"uv it runs; command -v python3; ls {tool}"
    done = wardian(tmp_path, "--", "sh", "-c", look, **env)
    assert done.stdout == "it runs\n/usr/bin/python3\n", done.stdout + done.stderr
