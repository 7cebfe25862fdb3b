"""Work in several threads: in order, stopped as a whole, bounded in time; and JUnit of results."""

from __future__ import annotations

import threading
from xml.etree import ElementTree

import pytest

from wardian.junit import FAILURE, SKIPPED, JunitCase, JunitSuite, junit
from wardian.pool import pool


def test_results_come_in_the_order_of_the_items_whatever_began_first() -> None:
    begun: list[int] = []
    with pool(1) as workers:
        assert workers.map(lambda n: begun.append(n) or n * n, [1, 2, 3], first=lambda n: -n) == [
            1, 4, 9,
        ]  # fmt: skip
    assert begun == [3, 2, 1]


def test_an_error_ends_what_runs_and_what_has_not_begun_never_does() -> None:
    stopped, begun = threading.Event(), []

    def work(number: int) -> None:
        begun.append(number)
        if number == 0:
            raise ValueError("no")
        stopped.wait(30)

    with pytest.raises(ValueError, match="no"), pool(2, on_stop=stopped.set) as workers:
        workers.map(work, range(50))
    assert len(begun) < 50
    assert not any(one.name.startswith("worker") for one in threading.enumerate())


def test_what_is_not_begun_when_it_is_late_is_returned() -> None:
    done: list[int] = []
    with pool(1) as workers:
        assert workers.until(lambda: len(done) >= 2, done.append, [1, 2, 3, 4]) == [3, 4]
    assert done == [1, 2]


def test_junit_counts_and_holds_what_xml_can_not() -> None:
    cases = [
        JunitCase("a", "x.y", 1.0),
        JunitCase("b\x00", "x.y", 0.5, FAILURE, "<&>\x1b", "]]>", "failed"),
        JunitCase("c", "x.y", 0.0, SKIPPED, "why"),
    ]
    root = ElementTree.fromstring(junit([JunitSuite("s", cases)]))  # noqa: S314
    suite = root[0]
    names = ("tests", "failures", "errors", "skipped", "time")
    assert {name: suite.get(name) for name in names} == {
        "tests": "3", "failures": "1", "errors": "0", "skipped": "1", "time": "1.500",
    }  # fmt: skip
    failure = suite[1][0]
    assert (suite[1].get("name"), failure.get("message"), failure.text) == (
        "b\\x00", "<&>\\x1b", "]]>",
    )  # fmt: skip
