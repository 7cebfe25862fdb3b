"""Tools that developers use: compilers, make, git, archivers, Java, an office, a browser."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import MakeSandbox
from wardian import Policy, Result, Sandbox
from wardian.sandbox.refusals.ranking import is_routine

from .test_guests import PYTHON, needed

pytestmark = pytest.mark.long

MAKEFILE = """
OBJECTS = main.o one.o two.o three.o
program: $(OBJECTS)
\t$(CC) -pthread -o $@ $^
%.o: %.c
\t$(CC) -O1 -c -o $@ $<
"""
MAIN = """
#include <pthread.h>
#include <stdio.h>
int one(void), two(void), three(void);
static void *run(void *at) { *(int *)at = one() + two() + three(); return at; }
int main(void) {
    pthread_t t; int sum = 0;
    pthread_create(&t, 0, run, &sum); pthread_join(t, 0);
    printf("%d\\n", sum); return 0;
}
"""
EXTENSION = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *args) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "ext", 0, -1, methods};
PyMODINIT_FUNC PyInit_ext(void) { return PyModule_Create(&module); }
"""
GIT = """
set -e
git init -q -b main repo && cd repo
git config user.name a && git config user.email a@example.com
mkdir d && echo one > d/file && git add -A && git commit -qm first
echo two >> d/file && git commit -qam second
git checkout -qb side HEAD~1 && echo three > other && git add . && git commit -qm third
git checkout -q main && git merge -q --no-edit side
cd .. && git clone -q repo clone && cd clone
git log --format=%s | sort && git fsck --no-progress && git gc -q && git status --short
git worktree add -q ../tree && git -C ../tree grep -c two
"""
ARCHIVES = """
set -e
mkdir -p a/b/c && seq 1 5000 > a/b/c/numbers && ln -s c a/b/link && ln a/b/c/numbers a/hard
for z in z j J; do
    tar -c${z}f a.tar.$z a && mkdir x$z && tar -xf a.tar.$z -C x$z && diff -r a x$z/a
done
find a -type l; find a -type f -links 2 | sort; find a -type f -size +1k -newer /etc/passwd | sort
find a -name numbers -exec sha256sum {} + | cut -c 1-16
cp -a a copy && rm -rf a && sort -n copy/hard | tail -1
sed -n 3p copy/hard; awk '{s += $1} END {print s}' copy/hard
xargs -P 4 -n 100 echo < copy/hard | wc -l
"""


@pytest.fixture
def at_work(tmp_path: Path, make_sandbox: MakeSandbox) -> tuple[Sandbox, Path]:
    """A sandbox whose /work is a directory of the host."""
    work = tmp_path / "work"
    work.mkdir()
    return make_sandbox(Policy.default().but(work=str(work)), fresh=True), work


def good(result: Result) -> str:
    assert result.exit_code == 0, (result.reason, result.detail, result.stderr.decode())
    assert [one.action for one in result.refusals if one.kind == "syscall"] == []
    return result.text


def test_gcc_and_parallel_make_build_a_threaded_program(at_work: tuple[Sandbox, Path]) -> None:
    needed("gcc", "make")
    sandbox, work = at_work
    (work / "Makefile").write_text(MAKEFILE)
    (work / "main.c").write_text(MAIN)
    for value, name in enumerate(("one", "two", "three"), 1):
        (work / f"{name}.c").write_text(f"int {name}(void) {{ return {value}; }}\n")
    good(sandbox.run(["make", "-j2", "CC=gcc"]))
    assert good(sandbox.run(["./program"])) == "6\n"
    assert os.access(work / "program", os.X_OK)
    assert (work / "program").stat().st_uid == os.geteuid()


def test_a_c_extension_is_built_and_imported(at_work: tuple[Sandbox, Path]) -> None:
    needed("gcc")
    include = sysconfig.get_paths()["include"]
    if not os.path.exists(f"{include}/Python.h"):
        pytest.skip("not installed: Python.h")
    sandbox, work = at_work
    (work / "ext.c").write_text(EXTENSION)
    # Python's own prefix comes along when Python is what is run.
    build = (
        "import subprocess, sys, importlib.machinery as m;"
        f"subprocess.run(['gcc', '-shared', '-fPIC', '-I{include}', '-o',"
        " 'ext' + m.EXTENSION_SUFFIXES[0], 'ext.c'], check=True);"
        "sys.path.insert(0, ''); import ext; print(ext.answer())"
    )
    assert good(sandbox.run([PYTHON, "-c", build])) == "42\n"


def test_git_commits_merges_clones_and_collects(at_work: tuple[Sandbox, Path]) -> None:
    needed("git")
    sandbox, _ = at_work
    lines = good(sandbox.run(["sh", "-c", GIT])).split()
    assert lines[:6] == ["Merge", "branch", "'side'", "first", "second", "third"]
    assert lines[-1] == "d/file:1"


def test_git_works_on_a_repository_that_the_caller_owns(at_work: tuple[Sandbox, Path]) -> None:
    needed("git")
    sandbox, work = at_work
    os.system(f"git init -q -b main {work} && echo hi > {work}/f")  # noqa: S605
    assert good(sandbox.run(["git", "status", "--short"])) == "?? f\n"


def test_archivers_and_text_tools(at_work: tuple[Sandbox, Path]) -> None:
    needed("tar", "gzip", "bzip2", "xz")
    sandbox, _ = at_work
    numbers = "".join(f"{n}\n" for n in range(1, 5001)).encode()
    assert good(sandbox.run(["bash", "-c", ARCHIVES])).split() == [
        *("a/b/link", "a/b/c/numbers", "a/hard", "a/b/c/numbers", "a/hard"),
        *(hashlib.sha256(numbers).hexdigest()[:16], "5000", "3", "12502500", "50"),
    ]


def test_script_gives_a_program_a_terminal(at_work: tuple[Sandbox, Path]) -> None:
    needed("script")
    sandbox, _ = at_work
    shown = good(sandbox.run(["script", "-qec", "tty; stty size; exit 0", "/dev/null"]))
    assert shown.startswith("/dev/pts/")


def test_java_runs(sandbox: Sandbox) -> None:
    needed("java")
    result = sandbox.run(["java", "-Xshare:auto", "-version"], timeout_s=60)
    assert result.exit_code == 0, result.stderr.decode()
    assert b"version" in result.stderr
    assert [one.target for one in result.refusals if not is_routine(one)] == []


def test_libreoffice_converts_a_text(at_work: tuple[Sandbox, Path]) -> None:
    needed("soffice")
    sandbox, work = at_work
    (work / "a.txt").write_text("hello")
    good(sandbox.run(["soffice", "--headless", "--convert-to", "pdf", "a.txt"], timeout_s=120))
    assert (work / "a.pdf").read_bytes().startswith(b"%PDF")


def test_chromium_renders_a_page(at_work: tuple[Sandbox, Path]) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("not installed: chromium or google-chrome")
    sandbox, work = at_work
    (work / "a.html").write_text("<p id=x>hello</p>")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    shown = sandbox.run([browser, *flags, "file:///work/a.html"], timeout_s=120)
    assert "hello" in shown.text, shown.stderr.decode()


def test_a_script_in_the_work_directory_runs_by_its_shebang(at_work: tuple[Sandbox, Path]) -> None:
    sandbox, work = at_work
    script = work / "hello.py"
    script.write_text("#!/usr/bin/env python3\nprint('from a script')\n")
    script.chmod(0o755)
    if os.path.exists("/usr/bin/python3"):
        assert good(sandbox.run(["./hello.py"])) == "from a script\n"
        assert good(sandbox.run(["/work/hello.py"])) == "from a script\n"
    script.chmod(0o644)
    assert sandbox.run(["./hello.py"]).exit_code == 126
    assert good(sandbox.run(["python3", "hello.py"])) == "from a script\n"
    assert good(sandbox.run([sys.executable, "-c", "print(1)"])) == "1\n"
