"""The decision language means what its page says, and points at what it does not understand."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardian.errors import InputError
from wardian.syscalls.conditions import WORD, Guard, parse_guards
from wardian.syscalls.constants import CONSTANTS


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        ("when arg0 == 0", [([[(0, WORD, False, (0,))]], errno.EPERM)]),
        ("when arg5 != 0x10", [([[(5, WORD, True, (16,))]], errno.EPERM)]),
        ("when arg1 in {1,TIOCSTI}", [([[(1, WORD, False, (1, 0x5412))]], errno.EPERM)]),
        ("when arg1 not in {0o10}", [([[(1, WORD, True, (8,))]], errno.EPERM)]),
        ("when arg2 & SET_ID_BITS == 0", [([[(2, 0o6000, False, (0,))]], errno.EPERM)]),
        ("when arg2 & 0xf in {1,2}", [([[(2, 15, False, (1, 2))]], errno.EPERM)]),
        ("when arg2 & S_ISUID|S_ISGID == S_ISUID", [([[(2, 0o6000, False, (0o4000,))]], 1)]),
        ("when arg0 == 1 else ENOSYS", [([[(0, WORD, False, (1,))]], errno.ENOSYS)]),
        (
            "when arg0 == 1 or arg0 == 2 and arg1 == 3",
            [([[(0, WORD, False, (1,))], [(0, WORD, False, (2,)), (1, WORD, False, (3,))]], 1)],
        ),
        (
            "when arg0 == 1 else EINVAL; when arg1 == 2",
            [([[(0, WORD, False, (1,))]], errno.EINVAL), ([[(1, WORD, False, (2,))]], 1)],
        ),
    ],
)
def test_a_decision_is_read_as_written(text: str, guards: list[object]) -> None:
    assert _as_lists(parse_guards(text)) == guards


@pytest.mark.parametrize(
    ("text", "number", "answers"),
    [
        ("when arg0 == 1", errno.EPERM, False),
        ("when arg0 == 1 else EINVAL", errno.EINVAL, False),
        ("when arg0 == 1 answer EPERM", errno.EPERM, True),
        ("when arg0 == 1 answer 0", 0, True),
    ],
)
def test_an_answer_is_no_refusal(text: str, number: int, answers: bool) -> None:
    assert [guard[1:] for guard in parse_guards(text)] == [(number, answers)]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("alow", 1, "expected allow, deny, absent or 'when'"),
        ("when arg0", 6, "expected a comparison"),
        ("when arg6 == 0", 6, "expected arg0 to arg5"),
        ("when fd == 0", 6, "expected arg0 to arg5"),
        ("when arg0 == AF_UNX", 14, "neither a number nor a known constant"),
        ("when arg0 == AF_UNIX or arg1 == X", 33, "neither a number nor a known constant"),
        ("when arg0 == 1 and arg1 & FLAGS == 0", 27, "neither a number nor a known constant"),
        ("when arg0 in AF_UNIX", 14, "expected a set"),
        ("when arg0 in {1,two}", 17, "neither a number nor a known constant"),
        ("when arg0 in {}", 15, "neither a number nor a known constant"),
        ("when arg0 == 0x100000000", 14, "does not fit 32 bits"),
        ("when arg0 == -1", 14, "does not fit 32 bits"),
        ("when arg0 & 0xf == 0x10", 20, "never matches"),
        ("when arg0 == 0 else EWRONG", 21, "not the name of an errno"),
        ("when arg0 == 0 else errorcode", 21, "not the name of an errno"),
        ("when arg0 == 0 else 0", 21, "not the name of an errno"),
        ("when arg0 == 0 answer 1", 23, "not the name of an errno"),
        ("when arg0 == 0; deny", 17, "expected allow, deny, absent or 'when'"),
    ],
)
def test_a_mistake_is_pointed_at(text: str, column: int, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_guards(text)
    assert caught.value.column == column


names = st.sampled_from(sorted(CONSTANTS))
values = st.one_of(
    st.integers(0, WORD).map(lambda n: (hex(n), n)),
    names.map(lambda name: (name, CONSTANTS[name])),
)


@given(st.integers(0, 5), st.lists(values, min_size=1, max_size=5), st.booleans())
def test_any_set_of_values_is_read_as_written(
    argument: int, members: list[tuple[str, int]], negated: bool
) -> None:
    operator = "not in" if negated else "in"
    text = f"when arg{argument} {operator} {{{','.join(text for text, _ in members)}}}"
    wanted = (argument, WORD, negated, tuple(value for _, value in members))
    assert parse_guards(text) == ((((wanted,),), errno.EPERM, False),)


@given(st.text(alphabet="when arg01&|=!{},;xELSEelseorand ", max_size=40))
def test_no_text_does_worse_than_a_pointed_refusal(text: str) -> None:
    column: int | None = 1
    try:
        parse_guards("when " + text)
    except InputError as error:
        column = error.column
    assert column in range(1, len(text) + 7)


def _as_lists(guards: tuple[Guard, ...]) -> list[object]:
    return [([list(c) for c in condition], number) for condition, number, _ in guards]
