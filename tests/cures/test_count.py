"""How many hints no test applies. The numbers may only fall: a new hint comes with a test."""

from __future__ import annotations

from collections import Counter

import pytest

from .hints import all_hints, untested
from .tables import SAMPLES

# Lower a number when a test covers one more; `python -m tests.cures.hints` lists what is left.
UNTESTED: dict[str, int] = {
    "cli": 54,
    "learn": 4,
    "living": 7,
    "measure": 35,
    "observe": 5,
    "runner": 45,
    "sandbox": 52,
    "skills": 28,
    "syscalls": 3,
}


@pytest.mark.parametrize("package", sorted({hint.package for hint in all_hints()}))
def test_hints_without_a_test_of_their_cure_become_fewer(package: str) -> None:
    left = Counter(hint.package for hint in untested(SAMPLES))
    lines = "\n".join(
        f"{hint.module}:{hint.line}: {hint.text}"
        for hint in untested(SAMPLES)
        if hint.package == package
    )
    assert left[package] <= UNTESTED.get(package, 0), f"add a cure to tests/cures/tables:\n{lines}"


@pytest.mark.parametrize("sample", SAMPLES)
def test_each_cure_of_the_tables_is_one_that_the_code_can_print(sample: str) -> None:
    assert any(hint.covers(sample) for hint in all_hints())
