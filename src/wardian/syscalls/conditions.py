"""The decision language of the syscall table, parsed; what becomes of a decision is not known here.
The ``effects`` column has its conditions, too.

decision     ``allow``, ``deny``, ``absent``, or guards joined by ``; ``
guard        ``when`` condition, optionally ``else`` ERRNO (EPERM unless given) or ``answer`` ERRNO,
             or ``answer 0``: without acting, as a host would that refuses or needs nothing, and
             therefore not reported
condition    conjunctions joined by `` or ``
conjunction  clauses joined by `` and ``
clause       ``argN``, ``highN`` or ``argN & VALUE``, then ``== VALUE``, ``!= VALUE``,
             ``in {VALUE,...}`` or ``not in {VALUE,...}``
VALUE        a number or a name of ``constants``, several joined by ``|``

Every comparison is on the low 32 bits of the register; ``highN`` names its high 32 bits, which only
matter where a pointer is compared with NULL.
"""

from __future__ import annotations

import errno

from wardian.errors import InputError
from wardian.syscalls.constants import CONSTANTS

TYPE_CHECKING = False  # importing typing takes 2 ms, and this module stands on the start path
if TYPE_CHECKING:
    from collections.abc import Sequence

Clause = tuple[int, int, bool, tuple[int, ...]]
"""(word, mask, negated, values): is word & mask among the values, or not if negated? Words 0 to 5
are the low halves of the arguments, 6 to 11 the high halves."""

Condition = tuple[tuple[Clause, ...], ...]
"""Alternatives, of which one must hold; each is clauses, which all must hold."""

Guard = tuple[Condition, int, bool]
"""A condition, the errno of a call that does not meet it (0: success), and whether that is an
answer, which is no refusal."""

WORD = 0xFFFFFFFF
_HALVES = {"arg": 0, "high": 6}
_OPERATORS = (" not in ", " in ", " != ", " == ")


def parse_guards(decision: str) -> tuple[Guard, ...]:
    """The guards of a ``when`` decision, in the order in which they are tried.

    Raises InputError, with the column in ``decision``, for anything the grammar does not know.
    """
    return tuple(_guard(text, column) for text, column in _split(decision, "; ", 1))


def parse_condition(text: str, column: int = 1) -> Condition:
    """A condition alone. Raises as ``parse_guards`` does."""
    return tuple(_conjunction(piece, at) for piece, at in _split(text, " or ", column))


def holds(condition: Condition, args: Sequence[int]) -> bool:
    """Whether a call with these six registers meets it."""
    halves = [arg & WORD for arg in args] + [arg >> 32 & WORD for arg in args]
    return any(
        all((halves[word] & mask in values) != negated for word, mask, negated, values in clauses)
        for clauses in condition
    )


def _guard(text: str, column: int) -> Guard:
    if not text.startswith("when "):
        raise InputError(f"expected allow, deny, absent or 'when', found {text!r}", column=column)
    answers = " answer " in text
    condition, word, name = text.partition(" answer " if answers else " else ")
    number = getattr(errno, name, None) if word else errno.EPERM
    if answers and name == "0":
        number = 0
    if not isinstance(number, int):
        raise InputError(
            f"{name!r} is not the name of an errno", column=column + len(condition + word)
        )
    start = len("when ")
    return parse_condition(condition[start:], column + start), number, answers


def _conjunction(text: str, column: int) -> tuple[Clause, ...]:
    return tuple(_clause(piece, at) for piece, at in _split(text, " and ", column))


def _clause(text: str, column: int) -> Clause:
    operator = next((known for known in _OPERATORS if known in text), None)
    if operator is None:
        raise InputError(f"expected a comparison, found {text!r}", column=column)
    left, _, right = text.partition(operator)
    right_column = column + len(left + operator)
    argument, mask = _operand(left, column)
    one = operator in (" == ", " != ")
    values = (_value(right, right_column),) if one else _set(right, right_column)
    for value in values:
        if value & ~mask:
            raise InputError(
                f"{value:#x} has bits outside the mask {mask:#x}: this never matches",
                column=right_column,
            )
    return argument, mask, operator in (" not in ", " != "), values


def _operand(text: str, column: int) -> tuple[int, int]:
    register, has_mask, mask = text.partition(" & ")
    half, digit = register[:-1], register[-1:]
    if half not in _HALVES or digit not in tuple("012345"):
        raise InputError(f"expected arg0 to arg5, found {register!r}", column=column)
    word = _HALVES[half] + int(digit)
    return word, _value(mask, column + len(register + " & ")) if has_mask else WORD


def _set(text: str, column: int) -> tuple[int, ...]:
    if not (text.startswith("{") and text.endswith("}")):
        raise InputError(f"expected a set such as {{A,B}}, found {text!r}", column=column)
    return tuple(_value(piece, at) for piece, at in _split(text[1:-1], ",", column + 1))


def _value(text: str, column: int) -> int:
    value = 0
    for name, at in _split(text, "|", column):
        value |= CONSTANTS[name] if name in CONSTANTS else _number(name, at)
    return value


def _number(text: str, column: int) -> int:
    try:
        number = int(text, 0)
    except ValueError:
        raise InputError(
            f"{text!r} is neither a number nor a known constant",
            column=column,
            hint="constants are listed in wardian/syscalls/constants.py",
        ) from None
    if not 0 <= number <= WORD:
        raise InputError(f"{text} does not fit 32 bits", column=column)
    return number


def _split(text: str, separator: str, column: int) -> list[tuple[str, int]]:
    """The pieces of the text, each with its column."""
    pieces = []
    for piece in text.split(separator):
        pieces.append((piece, column))
        column += len(piece) + len(separator)
    return pieces
