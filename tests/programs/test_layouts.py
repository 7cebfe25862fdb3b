"""Interpreters that do not live in /usr: venvs, pyenv, uv, conda, a lone binary in a home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wardian import Sandbox

from .test_guests import PYTHON, SYSTEM_PYTHON, needed

pytestmark = pytest.mark.long

WHERE = "import sys; print(sys.prefix); print(sys.executable)"


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that stands for a user's home."""
    return tmp_path_factory.mktemp("home")


def make_venv(python: str, place: Path, *options: str) -> None:
    subprocess.run([python, "-m", "venv", "--without-pip", *options, place], check=True)


@pytest.mark.parametrize("options", [(), ("--copies",), ("--system-site-packages",)])
def test_a_venv_runs_by_its_path(options: tuple[str, ...], home: Path, sandbox: Sandbox) -> None:
    make_venv(PYTHON, home / "venv", *options)
    site = next((home / "venv").glob("lib/python*/site-packages"))
    (site / "installed_here.py").write_text("value = 'from the venv'\n")
    result = sandbox.run(
        [f"{home}/venv/bin/python", "-c", WHERE + "; import installed_here as i; print(i.value)"]
    )
    assert result.text.splitlines() == [
        f"{home}/venv",
        f"{home}/venv/bin/python",
        "from the venv",
    ], result.stderr


def test_a_venv_that_is_first_on_the_path_is_the_one(
    home: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_venv(PYTHON, home / "venv")
    monkeypatch.setenv("PATH", f"{home}/venv/bin:{os.environ['PATH']}")
    assert sandbox.run(["python3", "-c", WHERE]).text.startswith(f"{home}/venv\n")
    # …and stays first for what it starts itself.
    shown = sandbox.run(["python", "-c", "import os; os.system('python3 -c \"" + WHERE + "\"')"])
    assert shown.text.startswith(f"{home}/venv\n")


def test_a_script_installed_in_a_venv_runs(
    home: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_venv(PYTHON, home / "venv")
    tool = home / "venv/bin/mytool"
    tool.write_text(f"#!{home}/venv/bin/python\nprint('tool')\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}/venv/bin:{os.environ['PATH']}")
    assert sandbox.run(["mytool"]).text == "tool\n"
    assert sandbox.run([str(tool)]).text == "tool\n"


def test_a_venv_made_from_a_venv_runs(home: Path, sandbox: Sandbox) -> None:
    make_venv(PYTHON, home / "one")
    make_venv(f"{home}/one/bin/python", home / "two")
    assert sandbox.run([f"{home}/two/bin/python", "-c", WHERE]).text.startswith(f"{home}/two\n")


def test_the_interpreter_of_these_tests_runs(sandbox: Sandbox) -> None:
    """With its packages, wherever it had to be placed."""
    result = sandbox.run([sys.executable, "-c", "import pytest; print(pytest.__version__)"])
    assert result.text == f"{pytest.__version__}\n", (result.detail, result.stderr)


def test_a_pyenv_shim_is_seen_through(
    home: Path, fresh_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed("/usr/bin/python3")
    root = home / ".pyenv"
    for version in ("3.98.1", "3.99.2"):
        fake_installation(root / "versions" / version)
    (root / "version").write_text("3.99.2\n")
    shims = root / "shims"
    shims.mkdir()
    (shims / "python3").write_text('#!/usr/bin/env bash\nexec pyenv exec python3 "$@"\n')
    (shims / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{shims}:/usr/bin:/bin")
    monkeypatch.delenv("PYENV_VERSION", raising=False)
    assert "versions/3.99.2/bin/python3" in fresh_sandbox.run(["python3", "-c", WHERE]).text
    monkeypatch.setenv("PYENV_VERSION", "3.98.1")
    assert "versions/3.98.1/bin/python3" in fresh_sandbox.run(["python3", "-c", WHERE]).text
    assert (
        "versions/3.98.1/bin/python3" in fresh_sandbox.run([f"{shims}/python3", "-c", WHERE]).text
    )


def fake_installation(prefix: Path) -> None:
    """A relocated Python as pyenv, uv and conda make them; its library is the system's."""
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").mkdir()
    shutil.copy(os.path.realpath(SYSTEM_PYTHON), prefix / "bin/python3")
    for library in Path("/usr/lib").glob("python3*"):
        (prefix / "lib" / library.name).symlink_to(library)


def test_the_python_of_this_user_s_path_runs(sandbox: Sandbox) -> None:
    needed("python3")
    assert sandbox.run(["python3", "-c", "print(6 * 7)"]).text == "42\n"


def test_a_uv_managed_python_runs(
    home: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed("/usr/bin/python3")
    managed = home / ".local/share/uv/python/cpython-3.99-linux-x86_64-gnu"
    fake_installation(managed)
    binaries = home / ".local/bin"
    binaries.mkdir(parents=True)
    (binaries / "python3.99").symlink_to(managed / "bin/python3")
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("secret")
    monkeypatch.setenv("PATH", f"{binaries}:/usr/bin:/bin")
    result = sandbox.run(["python3.99", "-c", WHERE])
    assert result.exit_code == 0, (result.detail, result.stderr)
    native = subprocess.run(
        [managed / "bin/python3", "-c", WHERE], capture_output=True, text=True, check=True
    )
    assert result.text.splitlines()[0] == native.stdout.splitlines()[0]
    seen = sandbox.run(["python3.99", "-c", f"import os; print(os.path.exists('{home}/.ssh'))"])
    assert seen.text == "False\n"


def test_a_conda_like_prefix_runs(home: Path, sandbox: Sandbox) -> None:
    needed("/usr/bin/python3")
    prefix = home / "miniconda3/envs/data"
    fake_installation(prefix)
    (prefix / "conda-meta").mkdir()
    (prefix / "conda-meta/history").write_text("")
    (prefix / "share").mkdir()
    (prefix / "share/data.txt").write_text("data")
    program = f"print(open('{prefix}/share/data.txt').read())"
    assert sandbox.run([f"{prefix}/bin/python3", "-c", program]).text == "data\n"


def test_a_lone_binary_in_a_home_brings_nothing_else_along(
    home: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    binaries = home / "bin"
    binaries.mkdir()
    shutil.copy("/usr/bin/ls", binaries / "myls")
    (binaries / "other").write_text("")
    (home / "secret").write_text("")
    assert sandbox.run([f"{binaries}/myls", str(binaries)]).text == "myls\n"
    assert sandbox.run([f"{binaries}/myls", str(home)]).text == "bin\n"
    monkeypatch.setenv("PATH", f"{binaries}:/usr/bin:/bin")
    assert sandbox.run(["myls", str(binaries)]).text == "myls\n"


def test_a_home_is_never_taken_for_an_installation(
    home: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """~/bin/tool next to ~/lib/python3… must not share the home."""
    monkeypatch.setenv("HOME", str(home))
    (home / "bin").mkdir()
    (home / "lib/python3.11").mkdir(parents=True)
    (home / "lib/python3.11/os.py").write_text("")
    (home / "secret").write_text("")
    shutil.copy("/usr/bin/ls", home / "bin/myls")
    assert sandbox.run([f"{home}/bin/myls", str(home)]).text == "bin\n"
