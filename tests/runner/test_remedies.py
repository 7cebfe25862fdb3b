"""What a run that lacks a package or a module prints is done as it is printed, and cures."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.command import Wardian
from tests.runner.conftest import needs
from tests.runner.hostile import Index, publish, serving, wheel
from tests.skill_folders import MakeSkill

MOST_ROUNDS = 4
PRINTED = re.compile(r": (--(?:with|env) .*?)(?: \(or allow .*)?$")


@pytest.fixture
def settings() -> Iterator[dict[str, str]]:
    with serving(Index()) as index:
        index.add(*wheel("friendly", {"friendly.py": "X = 1"}))
        index.add(*wheel("other", {"other.py": "X = 2"}))
        publish(index, "padded", {"index.js": "module.exports = 3"}, main="index.js")
        url = {"PIP_INDEX_URL": f"{index.url}/simple", "PIP_NO_INDEX": "0"}
        yield url | {"npm_config_registry": index.url}


class Case(NamedTuple):
    """A script that fails until what is printed is done; ``remedies`` are then the options."""

    name: str
    files: dict[str, str]
    remedies: list[str]
    marks: tuple[pytest.MarkDecorator, ...] = (pytest.mark.long,)


CASES = [
    Case("module", {"scripts/w.py": "import friendly"}, ["--with friendly"], ()),
    Case(
        "two-modules",
        {"scripts/w.py": "import friendly, other"},
        ["--with friendly", "--with other"],
    ),
    Case(
        "own-module",
        {"scripts/w.py": "import helper", "lib/helper.py": ""},
        ["--env PYTHONPATH=/skill/lib:/skill"],
        (),
    ),
    Case(
        "in-a-child",
        {"scripts/w.sh": "#!/bin/sh\npython3 -c 'import friendly'\n"},
        ["--with friendly"],
    ),
    Case(
        "pip-install",
        {"scripts/w.sh": "#!/bin/sh\nset -e\npip install friendly\npython3 -c 'import friendly'\n"},
        ["--with friendly"],
    ),
    Case(
        "node",
        {"scripts/w.js": "require('padded')"},
        ["--with npm:padded"],
        (pytest.mark.long, needs("npm")),
    ),
]


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name, marks=c.marks) for c in CASES])
def test_what_run_prints_of_packages_is_done_and_cures(
    case: Case, make_skill: MakeSkill, wardian: Wardian, settings: dict[str, str]
) -> None:
    skill, options = make_skill(dict(case.files)), []
    script = next(iter(case.files))
    for _ in range(MOST_ROUNDS):
        done = wardian("run", skill, script, *options, env=settings)
        if done.returncode == 0:
            break
        found = [PRINTED.search(line) for line in done.stderr.splitlines()]
        added = [word for one in found if one for word in shlex.split(one[1])]
        assert added, done.stderr
        assert any(word not in options for word in added), (options, done.stderr)
        options += added
    assert done.returncode == 0, (options, done.stderr)
    pairs = {f"{name} {value}" for name, value in zip(options[::2], options[1::2], strict=True)}
    assert pairs == set(case.remedies)
