"""An interpreter that waited runs a script as a new one does: the same script both ways, and all
that can be seen of it compared."""

from __future__ import annotations

import glob
import os
import re
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from wardian import Policy, Pool, Sandbox
from wardian.errors import SandboxError, UsageError
from wardian.sandbox.run.result import Result

SOON_S = 60.0
PYTHON = "/usr/bin/python3"
OTHERS = [  # those that are there; each differs in what it does when it starts
    found
    for version in ("3.8", "3.10", "3.12", "3.13")
    for found in (
        *glob.glob(f"{os.environ.get('PYENV_ROOT', '/nowhere')}/versions/{version}.*/bin/python3"),
        *filter(None, (shutil.which(f"python{version}"),)),
    )[:1]
]


class Both(NamedTuple):
    """A pool of warm interpreters, and a sandbox in which new ones are started."""

    pool: Pool
    sandbox: Sandbox
    work: Path
    python: str

    def compare(self, text: str, *args: str, name: str = "script.py", **options: object) -> Result:
        """Run the script both ways; everything that a caller sees of it must be the same."""
        (self.work / name).write_text(text)
        options = {"timeout_s": 60.0, **options}
        new = self.sandbox.run([self.python, name, *args], **options)  # type: ignore[arg-type]
        warm = self.pool.run_python(name, args, **options)  # type: ignore[arg-type]
        return same(new, warm)

    def compare_code(self, code: str, *args: str, **options: object) -> Result:
        """The same for ``-c``."""
        command = [self.python, "-c", code, *args]
        options = {"timeout_s": 60.0, **options}
        new = self.sandbox.run(command, **options)  # type: ignore[arg-type]
        warm = self.pool.run_python(code=code, args=args, **options)  # type: ignore[arg-type]
        return same(new, warm)


def plain(said: bytes) -> str:
    """Without what differs from run to run."""
    return re.sub(r"0x[0-9a-f]+", "0x…", said.decode(errors="backslashreplace"))


def same(new: Result, warm: Result) -> Result:
    assert plain(warm.stdout) == plain(new.stdout)
    assert plain(warm.stderr) == plain(new.stderr)
    seen = ("exit_code", "reason", "signal", "truncated", "command")
    assert {name: getattr(warm, name) for name in seen} == {
        name: getattr(new, name) for name in seen
    }
    return warm


@pytest.fixture(scope="module", params=[PYTHON])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    work = tmp_path_factory.mktemp("work")
    policy = Policy.default().but(work=str(work))
    python = request.param
    with (
        Pool(policy, python=python, preload=["json"], ready=2) as pool,
        Sandbox.create(policy, fresh=True, programs=[python]) as sandbox,
    ):
        assert pool.wait_ready(SOON_S)
        yield Both(pool, sandbox, work, python)


# What a script sees, and says
SCRIPTS = {
    "argv": "import sys; print(sys.argv, sys.orig_argv if hasattr(sys, 'orig_argv') else 0)",
    "main": "print([(k, type(v).__name__) for k, v in globals().items()]); print(__file__, __name__, __spec__, __builtins__)",
    "loader": "print(type(__loader__), getattr(__loader__, 'path', 0), getattr(__loader__, 'name', 0))",
    "path": "import sys; print(sys.path)",
    "flags": "import sys; print(sys.flags, sys.warnoptions, sys._xoptions, sys.executable, sys.prefix, sys.exec_prefix)",
    "directory": "import os; print(os.getcwd(), os.path.exists('script.py'))",
    "environ": "import os; print(list(os.environ.items()))",
    "environ of C": (
        "import ctypes, os; c = ctypes.CDLL(None); c.getenv.restype = ctypes.c_char_p\n"
        "print([(n, c.getenv(n.encode())) for n in os.environ])"
    ),
    "descriptors": "import os; print(sorted(os.listdir('/proc/self/fd')))",
    "streams": (
        "import sys\n"
        "for s in (sys.stdin, sys.stdout, sys.stderr):\n"
        "    print(s, s.encoding, s.errors, s.newlines, s.line_buffering, s.isatty(), s.name, s.mode,"
        " s.buffer.raw, s.fileno(), s.closed)\n"
        "print(sys.stdin is sys.__stdin__, sys.stdin.seekable(), sys.stdin.read())"
    ),
    "buffering": "import os, sys; print('late'); os.write(1, b'soon\\n'); sys.stderr.write('x'); os.write(2, b'y')",
    "encoding": "import sys, locale; print('é', sys.getfilesystemencoding(), locale.getlocale(), sys.getdefaultencoding())",
    "signals": (
        "import signal\n"
        "for s in sorted(signal.valid_signals() if hasattr(signal, 'valid_signals') else []):\n"
        "    print(s, signal.getsignal(s))\n"
        "print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    ),
    "umask": "import os; print(oct(os.umask(0)))",
    "limits": "import resource; print([resource.getrlimit(n) for n in range(16) if n != 10])",
    "collector": "import gc; print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks, gc.garbage)",
    "recursion": "import sys; print(sys.getrecursionlimit(), sys.getswitchinterval())",
    "fault handler": "import faulthandler; print(faulthandler.is_enabled())",
    "warnings": "import warnings; print(warnings.filters); warnings.warn('w'); warnings.warn('d', DeprecationWarning)",
    "hooks": "import sys; print(sys.excepthook, sys.displayhook, sys.unraisablehook, sys.breakpointhook, sys.path_hooks, sys.meta_path)",
    "threads": "import threading; print([t.name for t in threading.enumerate()], threading.current_thread() is threading.main_thread())",
    "threads at the end": (
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('last'))).start(); print('first')"
    ),
    "atexit": "import atexit; atexit.register(print, 'one'); atexit.register(print, 'two'); print('zero')",
    "docstring": '"""About it."""\nprint(__doc__)',
    "no docstring": "print(__doc__, __annotations__ if '__annotations__' in globals() else 0)",
    "annotations": "x: int = 1\nprint(__annotations__)",
    "future": "print(compile('1', 'x', 'eval').co_flags)",
    "pickle": "import pickle\nclass A: pass\nprint(pickle.loads(pickle.dumps(A())).__class__ is A)",
    "import main": "import __main__; print(__main__.__dict__ is globals(), __main__)",
    "inspect": "import inspect\ndef f(): pass\nprint(inspect.getsource(f), inspect.getfile(f))",
    "fork": "import os, sys\nif os.fork(): os.wait(); print('parent')\nelse: print('child')",
    "multiprocessing fork": (
        "import multiprocessing as m\ndef f(x): return x + 1\n"
        "if __name__ == '__main__': print(m.get_context('fork').Pool(2).map(f, [1, 2]))"
    ),
    "multiprocessing spawn": (
        "import multiprocessing as m\ndef f(x): return x + 1\n"
        "if __name__ == '__main__':\n"
        "    with m.get_context('spawn').Pool(1) as p: print(p.map(f, [1, 2]))"
    ),
    "subprocess": "import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True))",
    "modules": "import sys; print(sorted(m for m in sys.modules if m.split('.')[0] not in ('json', 're', 'enum', 'sre_compile', 'sre_parse', 'sre_constants', 'copyreg', 'functools', 'collections', 'types', 'operator', 'keyword', 'reprlib', '_sre', '_json', '_locale', '_collections', '_functools', '_operator', 'itertools')))",
    "name of the process": "print(open('/proc/self/comm').read())",
    "session": "import os; print(os.getpid() == os.getpgrp() == os.getsid(0))",
    # Ends
    "exit with a number": "import sys; sys.exit(7)",
    "exit with text": "import sys; sys.exit('no good')",
    "exit with nothing": "import sys; sys.exit()",
    "exit with None": "import sys; sys.exit(None)",
    "exit with an object": "import sys; sys.exit((1, 2))",
    "exit with a large number": "import sys; sys.exit(256 + 3)",
    "exit of builtins": "exit(4)",
    "exit at once": "import os; print('lost'); os._exit(5)",
    "exit in atexit": "import atexit, sys; atexit.register(lambda: print('x')); sys.exit(2)",
    "abort": "import os; os.abort()",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "terminated": "import os; os.kill(os.getpid(), 15)",
    "interrupted": "import os, signal; os.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(9)",
    "interrupt raised": "raise KeyboardInterrupt",
    "interrupt caught": "import os\ntry: os.kill(os.getpid(), 2); import time; time.sleep(9)\nexcept KeyboardInterrupt: print('caught')",
    "broken pipe": "import os, signal; print(signal.getsignal(signal.SIGPIPE)); r, w = os.pipe(); os.close(r); os.write(w, b'x')",
    # Errors
    "error": "def f(): g()\ndef g(): 1 / 0\nf()",
    "error with a cause": "try: 1 / 0\nexcept Exception as e: raise ValueError('x') from e",
    "error in context": "try: 1 / 0\nexcept Exception: {}['x']",
    "error in an import": "import json\njson.loads('{')",
    "error in exec": "exec('1 / 0')",
    "error of a class of one's own": "class E(Exception): pass\nraise E('é')",
    "error with notes": "e = ValueError('x')\nif hasattr(e, 'add_note'): e.add_note('more')\nraise e",
    "error group": "import sys\nif sys.version_info >= (3, 11): raise ExceptionGroup('g', [ValueError(1)])",
    "deep recursion": "import sys\ndef f(): f()\ntry: f()\nexcept RecursionError as e: print(e)",
    "a hook of one's own": "import sys, traceback\ndef h(t, v, tb): print('hook', t, v, len(traceback.extract_tb(tb)), tb is v.__traceback__)\nsys.excepthook = h\n1 / 0",
    "no hook": "import sys\ndel sys.excepthook\nraise SystemExit(3)",
    "error in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T'); t.start(); t.join()",
    "error in atexit": "import atexit\n@atexit.register\ndef f(): 1 / 0",
    "error in a destructor": "class A:\n    def __del__(self): 1 / 0\nA()",
    "last": "import atexit, sys\natexit.register(lambda: print(sys.last_type, sys.last_value, sys.last_traceback.tb_frame.f_code.co_name))\ndef f(): 1 / 0\nf()",
    "syntax": "print('x'\n",
    "indentation": "def f():\nprint()\n",
    "tabs": "if 1:\n\tx = 1\n        y = 2\n",
    "coding": "# -*- coding: latin-1 -*-\nprint('x')",
    "unknown coding": "# coding: nonsense\n",
    "mark of order": "\ufeffprint('x')",
    "carriage returns": "print(1)\r\nprint(2)\r\n",
    "empty": "",
    "NUL": "print(1)\0",
}


KEY = ("argv", "main", "path", "flags", "streams", "signals", "descriptors", "error", "syntax")
KEY += ("interrupt raised", "exit with text", "pickle", "last", "warnings")


@pytest.mark.parametrize("what", SCRIPTS)
def test_a_script_runs_as_in_a_new_interpreter(both: Both, what: str) -> None:
    both.compare(SCRIPTS[what], "a", "-b", "é ü")


@pytest.mark.parametrize("what", SCRIPTS)
def test_code_runs_as_in_a_new_interpreter(both: Both, what: str) -> None:
    if "\0" not in SCRIPTS[what] and "spawn" not in what:  # which a -c can't import again
        both.compare_code(SCRIPTS[what].replace("script.py", "x"), "a", "-b", "é ü")


@pytest.mark.parametrize("python", OTHERS)
def test_other_versions_of_python_do_the_same(python: str, tmp_path: Path) -> None:
    policy = Policy.default().but(work=str(tmp_path))
    with (
        Pool(policy, python=python, preload=["json"], ready=2) as pool,
        Sandbox.create(policy, fresh=True, programs=[python]) as sandbox,
    ):
        for what in KEY:
            both = Both(pool, sandbox, tmp_path, python)
            both.compare(SCRIPTS[what], "a", "é")
            both.compare_code(SCRIPTS[what].replace("script.py", "x"), "a", "é")


def test_standard_input_is_the_scripts_own(both: Both) -> None:
    text = "import sys\nprint(sys.stdin, sys.stdin.seekable())\nprint(repr(sys.stdin.read()))"
    assert both.compare(text, input=b"one\r\ntwo\xff").usage.stdin_bytes == 9
    both.compare(
        "import os; print(len(os.read(0, 9)), len(open(0, 'rb').read()))", input=b"x" * 300000
    )
    both.compare("print(input(), input())", input="a\nb\n")
    both.compare("input()")  # end of file
    both.compare("pass", input=b"nobody reads it" * 100000)


def test_the_environment_is_the_callers(both: Both) -> None:
    show = (
        "import os, sys, time, subprocess\n"
        "print(sorted(os.environ.items()), sys.flags, sys.path, sys.stdout.encoding, time.tzname)\n"
        "print(subprocess.check_output(['env']), sys.stdout.line_buffering, sys.warnoptions)"
    )
    for env in (
        {"NEW": "x", "EMPTY": ""},
        {"PYTHONOPTIMIZE": "1"},
        {"PYTHONPATH": "/tmp", "PYTHONUNBUFFERED": "1"},
        {"PYTHONHASHSEED": "0"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONWARNINGS": "error"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"TZ": "Asia/Tokyo"},
        {"HOME": "/tmp"},
        {"PATH": "/usr/bin"},
    ):
        both.compare(show, env=env)


def test_the_working_directory_is_the_callers(both: Both) -> None:
    (both.work / "sub").mkdir(exist_ok=True)
    (both.work / "sub" / "script.py").write_text("import os, sys; print(os.getcwd(), sys.path[0])")
    both.compare_code("import os; print(os.getcwd())", cwd="/tmp")
    both.compare_code("import os; print(os.getcwd())", cwd="sub")
    for name in ("sub/script.py", "./sub/../sub/script.py", "/work/sub/script.py"):
        new = both.sandbox.run([both.python, name])
        same(new, both.pool.run_python(name))
    with pytest.raises(SandboxError, match="working directory"):
        both.pool.run_python(code="1", cwd="missing")


def test_what_is_no_plain_file_runs_as_well(both: Both) -> None:
    import zipfile

    folder = both.work / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "__main__.py").write_text("import sys; print(__name__, sys.path[0], sys.argv)")
    with zipfile.ZipFile(both.work / "packed.zip", "w") as packed:
        packed.writestr("__main__.py", "import sys; print(__name__, sys.path[0], sys.argv)")
    (both.work / "link.py").unlink(missing_ok=True)
    (both.work / "link.py").symlink_to("folder/__main__.py")
    compile_it = "import py_compile; py_compile.compile('script.py', 'compiled.pyc')"
    (both.work / "script.py").write_text("print(__file__)")
    assert both.sandbox.run([both.python, "-c", compile_it]).exit_code == 0
    for name in (
        "folder",
        "packed.zip",
        "link.py",
        "compiled.pyc",
        "missing.py",
        "/etc",
        "/etc/shadow",
    ):
        new = both.sandbox.run([both.python, name, "x"])
        same(new, both.pool.run_python(name, ["x"]))


def test_each_has_a_hash_seed_of_its_own(both: Both) -> None:
    seen = {both.pool.run_python(code="print(hash('x'))").stdout for _ in range(3)}
    assert len(seen) == 3


def test_signals_from_outside(both: Both) -> None:
    text = "import time\nprint('x', flush=True)\ntime.sleep(60)"
    (both.work / "script.py").write_text(text)
    for number in (signal.SIGINT, signal.SIGTERM):
        ends = []
        for start in (both.sandbox.start_unattended, None):
            heard = threading.Event()
            if start is None:
                process = _started(both.pool, "script.py", heard)
            else:
                process = start([both.python, "script.py"], on_stdout=lambda _, h=heard: h.set())
                process.pump_in_thread()
            assert heard.wait(SOON_S)
            time.sleep(0.3)  # it sleeps by now
            process.send_signal(number)
            ends.append(process.wait(SOON_S))
        assert (ends[0].exit_code, ends[0].reason, ends[0].stderr) == (
            ends[1].exit_code,
            ends[1].reason,
            ends[1].stderr,
        )


def _started(pool: Pool, name: str, heard: threading.Event):  # type: ignore[no-untyped-def]
    """A handle of a warm run, which the pool itself does not give."""
    asked, job, placed = pool._script(name, (), None, {"on_stdout": lambda data: heard.set()})
    process = pool._told(pool._interpreters.take(), asked, job, placed)
    process.pump_in_thread()
    return process


# What is not as in a new interpreter: written down in docs/api.md


def test_the_clock_begins_with_the_script(both: Both) -> None:
    time.sleep(0.5)
    result = both.pool.run_python(code="print(1)", timeout_s=30)
    assert result.usage.wall_s < 0.5
    stopped = both.pool.run_python(code="import time; time.sleep(60)", timeout_s=0.3)
    assert (stopped.reason, stopped.exit_code) == ("time limit", 124)


def test_what_loading_was_refused_is_not_the_scripts() -> None:
    with Pool(python=PYTHON, preload=["json", "ctypes.util"], ready=1) as pool:
        assert pool.wait_ready(SOON_S)
        quiet = pool.run_python(code="pass")
        assert not [one for one in quiet.refusals if one.weight == "cause"]
        loud = pool.run_python(code="open('/etc/shadow')")
        assert "/etc/shadow" in [one.target for one in loud.refusals]


def test_a_module_that_can_t_be_loaded_is_named() -> None:
    with Pool(python=PYTHON, preload=["json", "no_such_module"], ready=1) as pool:
        for _ in range(2):
            with pytest.raises(SandboxError, match=r"no_such_module: ModuleNotFoundError"):
                pool.run_python(code="1")
        with pytest.raises(SandboxError, match="no_such_module"):
            pool.wait_ready(SOON_S)


def test_a_module_that_ends_the_interpreter_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import os\nos.write(2, b'last words\\n')\nos._exit(3)")
    policy = Policy.default().but(work=str(tmp_path), set_env=(("PYTHONPATH", "/work"),))
    said = r"ended with 3 .* before it had loaded bad"
    with (
        Pool(policy, python=PYTHON, preload=["bad"], ready=1) as pool,
        pytest.raises(SandboxError, match=said),
    ):
        pool.run_python(code="1")


def test_what_lies_in_the_work_directory_is_not_loaded_ahead(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken')")
    with Pool(Policy.default().but(work=str(tmp_path)), python=PYTHON, preload=["json"]) as pool:
        assert pool.run_python(code="import json; print(json.dumps(1))").stdout == b"1\n"


def test_what_modules_print_while_they_are_loaded_is_dropped() -> None:
    with Pool(python=PYTHON, preload=["this"], ready=1) as pool:
        assert pool.run_python(code="print(1)").stdout == b"1\n"


def test_other_commands_run_besides(both: Both) -> None:
    assert both.pool.run(["echo", "x"]).stdout == b"x\n"


@pytest.mark.parametrize(
    ("script", "options", "said"),
    [
        (None, {}, "a script or code"),
        ("x.py", {"code": "1"}, "a script or code"),
        ("-", {}, "is no script"),
        ("", {}, "is no script"),
        ("x.py", {"args": "abc"}, "a list of words"),
    ],
)
def test_nonsense_is_refused(
    both: Both, script: str | None, options: dict[str, str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        both.pool.run_python(script, **options)  # type: ignore[arg-type]


def test_nonsense_is_refused_when_the_pool_is_made() -> None:
    with pytest.raises(UsageError, match="preload needs an interpreter"):
        Pool(preload=["json"])
    for preload in ("json", ["x; y"], [""], [3]):
        with pytest.raises(UsageError, match="a list of modules"):
            Pool(python=PYTHON, preload=preload)  # type: ignore[arg-type]
    with Pool(ready=1) as pool, pytest.raises(UsageError, match="no interpreters"):
        pool.run_python(code="1")
