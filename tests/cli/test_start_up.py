"""What keeps the start short: values without typing, data that is compiled ahead."""

from __future__ import annotations

import copy
import itertools
import marshal
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from wardian import compiled
from wardian.sandbox.host import Host
from wardian.sandbox.policy import policy
from wardian.sandbox.root import layout
from wardian.sandbox.run import filter, plan
from wardian.values import NamedTuple


class Point(NamedTuple):
    """For these tests."""

    x: int
    y: int = 2
    count: int = 0

    @property
    def sum(self) -> int:
        return self.x + self.y

    @classmethod
    def origin(cls) -> Point:
        return cls(0, 0)


def test_a_value_is_made_as_typing_makes_it() -> None:
    assert Point(1) == Point(x=1, y=2) == (1, 2, 0)
    assert (Point(1).x, Point(1, count=5).count, Point(1).sum) == (1, 5, 3)
    assert repr(Point(1)) == "Point(x=1, y=2, count=0)"
    assert Point._fields == ("x", "y", "count")
    assert Point(1)._asdict() == {"x": 1, "y": 2, "count": 0}
    assert Point.origin() == (0, 0, 0)
    assert hash(Point(1)) == hash((1, 2, 0))


def test_a_value_is_frozen_and_replaced() -> None:
    with pytest.raises(AttributeError):
        Point(1).x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Point(1).z = 3  # type: ignore[attr-defined]
    assert Point(1)._replace(y=9) == (1, 9, 0)
    assert type(Point(1)._replace(y=9)) is Point


@pytest.mark.parametrize(
    ("args", "named"), [((), {}), ((1, 2, 3, 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1})]
)
def test_wrong_values_are_type_errors(args: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError):
        Point(*args, **named)


def test_a_value_survives_copying_and_pickling() -> None:
    for point in (
        copy.copy(Point(1)),
        copy.deepcopy(Point(1)),
        pickle.loads(pickle.dumps(Point(1))),  # noqa: S301
    ):
        assert point == Point(1)
        assert type(point) is Point


def test_a_value_can_be_matched() -> None:
    match Point(7):
        case Point(x, y):
            assert (x, y) == (7, 2)
        case _:
            pytest.fail("did not match")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of its own, with one source."""
    monkeypatch.setattr(compiled, "PACKAGE", str(tmp_path))
    monkeypatch.setattr(compiled, "PLACE", str(tmp_path / "_bin"))
    (tmp_path / "source").write_text("one")
    return tmp_path


def test_compiled_data_is_used_while_its_source_is_the_same(place: Path) -> None:
    compiled.store("name", ["source"], lambda: (1, "a", b"b"))
    assert compiled.load("name", ["source"], lambda: pytest.fail("made anew")) == (1, "a", b"b")


@pytest.mark.parametrize("damage", [b"", b"rubbish", marshal.dumps(7), marshal.dumps((1, 2, 3))])
def test_whatever_is_wrong_with_it_data_is_made_anew(place: Path, damage: bytes) -> None:
    assert compiled.load("name", ["source"], lambda: "made") == "made"
    compiled.store("name", ["source"], lambda: "old")
    (place / "_bin" / "name.compiled").write_bytes(damage)
    assert compiled.load("name", ["source"], lambda: "made") == "made"
    compiled.store("name", ["source"], lambda: "old")
    (place / "source").write_text("two")
    assert compiled.load("name", ["source"], lambda: "made") == "made"


def test_what_is_compiled_is_what_would_be_made() -> None:
    assert layout.layout() == layout.Layout(*layout.read_layout())
    assert as_compiled("layout", layout.SOURCES) == layout.read_layout()
    assert policy.Policy.default() == policy.Policy.preset("default")
    assert as_compiled(policy.DEFAULT_PRESET, policy.DEFAULT_SOURCES) == policy.read_default()
    for arch in ("x86_64", "aarch64"):
        for written, watch in itertools.product((False, True), plan.COMPILED_SCOPES):
            machine = Host(arch=arch, kernel=(6, 8), landlock_abi=4, uid=0)
            made = filter.make_filter(
                policy.Policy.default(),
                machine,
                {"proc", "notify"},
                shares_written=written,
                watch=watch,
            )
            name = plan.filter_name(arch, written, watch)
            assert as_compiled(name, plan.FILTER_SOURCES) == made


def as_compiled(name: str, sources: Iterable[str]) -> Any:
    """The compiled form that the build wrote of exactly these sources; there must be one."""
    return compiled.load(name, sources, lambda: pytest.fail(f"{name} is not compiled"))
