"""A Python that stays: cells, what they show, and what stops them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from wardian import Policy, Sandbox
from wardian.errors import UsageError
from wardian.sandbox.python.session import PythonSession

PYTHON = "/usr/bin/python3"
SOON_S = 30.0
PNG = "b'\\x89PNG\\r\\n\\x1a\\nrest'"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.create() as made:
        yield made


@pytest.fixture
def python(sandbox: Sandbox) -> Iterator[PythonSession]:
    with sandbox.python(PYTHON) as session:
        yield session


def test_state_is_kept_and_the_last_expression_is_the_value(python: PythonSession) -> None:
    assert python.run("x = 20").text is None
    outcome = python.run("def double(n):\n    return 2 * n\nprint('in it')\ndouble(x) + 2")
    assert (outcome.text, outcome.value, outcome.has_value) == ("42", 42, True)
    assert (outcome.stdout, outcome.stderr, outcome.error) == ("in it\n", "", None)
    assert outcome.ok
    assert python.run("_ + 1").value == 43


@pytest.mark.parametrize(
    ("code", "text", "value", "has_value"),
    [
        ("{'a': [1, None, True, 'é', 1.5]}", None, {"a": [1, None, True, "é", 1.5]}, True),
        ("(1, 2)", "(1, 2)", None, False),
        ("{1: 2}", "{1: 2}", None, False),
        ("float('nan')", "nan", None, False),
        ("object", "<class 'object'>", None, False),
        ("'\\ud800'", "'\\ud800'", "\ud800", True),
        ("x = []; x.append(x); x", "[[...]]", None, False),
        ("list(range(200000))[:3]", "[0, 1, 2]", [0, 1, 2], True),
        ("10 ** 5000", None, None, False),
        ("None", None, None, False),
        ("5;", None, None, False),
        ("# nothing", None, None, False),
        ("x = 3", None, None, False),
    ],
)
def test_values_that_JSON_has_a_form_for_come_as_data(  # noqa: N802
    python: PythonSession, code: str, text: str | None, value: object, has_value: bool
) -> None:
    outcome = python.run(code)
    assert outcome.error is None or "4300" in outcome.error.message
    assert (outcome.value, outcome.has_value) == (value, has_value)
    if text is not None:
        assert outcome.text == text


def test_an_error_has_its_type_and_a_traceback_of_the_cell_alone(python: PythonSession) -> None:
    error = python.run("def f():\n    return 1 / 0\nf()").error
    assert error is not None
    assert (error.type, error.message) == ("ZeroDivisionError", "division by zero")
    assert error.traceback.startswith(
        'Traceback (most recent call last):\n  File "<cell 1>", line 3'
    )
    assert "return 1 / 0" in error.traceback
    assert "<string>" not in error.traceback
    wrong = python.run("def f(:").error
    assert wrong is not None
    assert wrong.type == "SyntaxError"
    assert wrong.traceback.startswith('  File "<cell 2>", line 1\n')


def test_await_works_at_the_top(python: PythonSession) -> None:
    assert (
        python.run("import asyncio\nawait asyncio.sleep(0)\nawait asyncio.sleep(0, 7)").value == 7
    )
    assert python.run("async def f(): return 8\nawait f()").value == 8


def test_things_are_shown_in_the_forms_that_they_have(python: PythonSession) -> None:
    show = (
        "class A:\n"
        "    def __repr__(self): return 'an A'\n"
        "    def _repr_html_(self): return '<b>A</b>'\n"
        f"    def _repr_png_(self): return {PNG}\n"
        "display(1, A())\nA()"
    )
    outcome = python.run(show)
    one, two, last = outcome.display
    assert (one.text, one.html, one.png) == ("1", None, None)
    assert two == last == ("an A", "<b>A</b>", b"\x89PNG\r\n\x1a\nrest")
    assert outcome.text == "an A"


def test_figures_that_are_shown_or_left_open_are_shown(sandbox: Sandbox) -> None:
    """With a stand-in that has what is used of matplotlib."""
    twice = PNG.replace("\\", "\\\\")
    write = f"""
import os; os.makedirs('matplotlib', exist_ok=True)
open('matplotlib/__init__.py', 'w').close()
open('matplotlib/figure.py', 'w').write('''
class Figure:
    def savefig(self, file, format): file.write({twice})
''')
open('matplotlib/pyplot.py', 'w').write('''
from matplotlib.figure import Figure
_open = {{}}
def figure(n=None): return _open.setdefault(n or len(_open) + 1, Figure())
def get_fignums(): return list(_open)
def close(which): _open.clear()
def switch_backend(name): pass
def show(): raise RuntimeError('no screen')
''')
"""
    with sandbox.python(PYTHON) as python:
        assert python.run(write).ok
        outcome = python.run(
            "import matplotlib.pyplot as plt\nplt.figure(); plt.show(); plt.figure()"
        )
        assert outcome.error is None
        assert [one.png for one in outcome.display] == [b"\x89PNG\r\n\x1a\nrest"] * 2


def test_a_cell_is_interrupted_from_another_thread(python: PythonSession) -> None:
    python.run("x = 1")
    timer = threading.Timer(0.5, python.interrupt)
    timer.start()
    began = time.monotonic()
    outcome = python.run("x = 2\nimport time\ntime.sleep(60)")
    assert time.monotonic() - began < SOON_S
    assert outcome.interrupted
    assert not outcome.restarted
    assert outcome.error is not None
    assert outcome.error.type == "KeyboardInterrupt"
    assert "on_interrupt" not in outcome.error.traceback
    python.interrupt()  # nothing runs
    assert python.run("x").value == 2


def test_time_that_is_over_interrupts_and_then_ends(python: PythonSession) -> None:
    python.run("x = 1")
    outcome = python.run("import time; print('a', flush=True); time.sleep(60)", timeout_s=0.3)
    assert (outcome.timed_out, outcome.restarted, outcome.stdout) == (True, False, "a\n")
    assert python.run("x").value == 1
    deaf = "import signal, time\nsignal.signal(2, signal.SIG_IGN)\nprint('b', flush=True)\n"
    deaf += "time.sleep(60)"
    outcome = python.run(deaf, timeout_s=0.3)
    assert (outcome.timed_out, outcome.restarted, outcome.stdout) == (True, True, "b\n")
    assert "did not stop" in outcome.why
    error = python.run("x").error
    assert error is not None
    assert error.type == "NameError"


def test_the_policys_time_holds_for_each_cell() -> None:
    policy = Policy.default().with_limits(time_s=0.5)
    with Sandbox.create(policy) as sandbox, sandbox.python(PYTHON) as python:
        assert python.run("import time; time.sleep(60)", timeout_s=50).timed_out
        time.sleep(0.6)
        assert python.run("1").value == 1


def test_it_is_restarted_and_closed(sandbox: Sandbox) -> None:
    python = sandbox.python(PYTHON)
    python.run("x = 1")
    python.restart()
    assert python.run("x").error is not None
    thread = threading.Timer(0.5, python.restart)
    thread.start()
    outcome = python.run("import time; time.sleep(60)")
    assert outcome.restarted
    thread.join()
    python.close()
    python.close()
    with pytest.raises(UsageError, match="closed"):
        python.run("1")


def test_it_shares_the_sandbox_with_other_commands(sandbox: Sandbox, python: PythonSession) -> None:
    assert python.run("open('/work/made', 'w').write('x'); import os; os.getpid()").ok
    assert sandbox.run(["cat", "/work/made"]).stdout == b"x"
    assert python.run("input()").error is not None  # its standard input is empty


def test_each_is_one_of_its_own(sandbox: Sandbox) -> None:
    with sandbox.python(PYTHON) as one, sandbox.python(PYTHON) as two:
        one.run("x = 1")
        assert two.run("x").error is not None


def test_the_same_words_on_an_event_loop() -> None:
    async def main() -> None:
        async with Sandbox.create() as sandbox, sandbox.python(PYTHON) as python:
            assert (await python.run("x = 3\nx")).value == 3
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(python.run("import time; time.sleep(60)"), 0.5)
            assert (await python.run("x")).value == 3
            await python.restart()
            assert (await python.run("x")).error is not None

    asyncio.run(main())


def test_nonsense_is_refused(sandbox: Sandbox, python: PythonSession) -> None:
    with pytest.raises(UsageError, match="a cell is text"):
        python.run("x" * ((16 << 20) + 1))
    with pytest.raises(UsageError, match="above 0"):
        python.run("1", timeout_s=0)
    with Sandbox.create(fresh=True) as fresh, pytest.raises(UsageError, match="living sandbox"):
        fresh.python()
    with sandbox.python("/usr/bin/no-such-python") as missing:
        outcome = missing.run("1")
        assert outcome.restarted
        assert "127" in outcome.why


def test_a_python_from_elsewhere_is_named_when_the_sandbox_is_made() -> None:
    import os
    import sys

    outside = os.path.realpath(sys.executable)
    if outside.startswith("/usr/"):
        pytest.skip("a Python outside of /usr is not installed")
    with Sandbox.create(programs=[outside]) as named, named.python(outside) as python:
        assert python.run("import sys; sys.executable").value == outside
