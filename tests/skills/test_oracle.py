"""The reference validator as the oracle: same verdict on hundreds of files, but for reasons."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from wardian.skills.checking import check_manifest
from wardian.skills.skill import Folder

from .corpus import Case, cases

skills_ref = pytest.importorskip("skills_ref")

TYPES = "the specification gives the field's type; the reference does not look at it"
FENCE = "a fence is a line of its own; the reference cuts at the first three dashes anywhere"
FLOW = "flow collections are YAML, and other clients read them"
NULL = "a bare null is no text in any YAML; the reference takes it for the word"
TAB = "YAML allows a tab inside a line"
BREAK = "YAML 1.1, which libyaml reads, ends a line here"
MARK = "a byte order mark is allowed in front of UTF-8 (we warn)"

# Every case in which we differ, and why we mean to.
DIFFERENCES = {
    "description-tilde": NULL,
    "description-null": NULL,
    "description-tab": TAB,
    "description-tab-inside": TAB,
    "description-nel": BREAK,
    "description-line-separator": BREAK,
    "license-list": TYPES,
    "license-map": TYPES,
    "tools-map": TYPES,
    "tools-nested": TYPES,
    "metadata-text": TYPES,
    "metadata-list": TYPES,
    "metadata-nested": TYPES,
    "metadata-value-list": TYPES,
    "yaml-stray-bracket": TYPES,
    "tools-flow": FLOW,
    "metadata-flow": FLOW,
    "metadata-empty-flow": FLOW,
    "fence-flow": FLOW,
    "fence-four-close": FENCE,
    "fence-fence-text": FENCE,
    "fence-close-text": FENCE,
    "fence-close-indented": FENCE,
    "fence-description-dashes-quoted": FENCE,
    "fence-comment-dashes": FENCE,
    "bytes-bom": MARK,
}


def ours(folder: Path) -> bool:
    found = check_manifest(Folder(folder, folder.name, str(folder)))
    return all(one.severity != "error" for one in found)


def reference(folder: Path) -> bool:
    try:
        return not skills_ref.validate(folder)
    except Exception:
        return False  # it crashes on bytes that are not UTF-8, and on NUL


def put(case: Case, under: Path) -> Path:
    folder = under / case.folder
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(case.content)
    return folder


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.label)
def test_the_verdict_is_the_references(case: Case, tmp_path: Path) -> None:
    folder = put(case, tmp_path)
    if case.label in DIFFERENCES:
        assert ours(folder) != reference(folder), "no longer a difference: take it off the list"
    else:
        assert ours(folder) == reference(folder)


def test_every_listed_difference_is_in_the_corpus() -> None:
    assert set(DIFFERENCES) <= {case.label for case in cases()}


def test_random_combinations_get_the_references_verdict(tmp_path: Path) -> None:
    chance = random.Random(3)
    names = ["name: s", "name: 's'", "name: S", "name: s_", "", "name: s-", "name: x", "name: ''"]
    descriptions = ["description: d", "description: >\n  d\n  e", "", "description: ''",
            "description: " + "d" * 1025, "description: a: b", "description: 'a: b'"]  # fmt: skip
    rest = ["license: MIT", "compatibility: any", "compatibility: " + "c" * 501, "x: y",
            "metadata:\n  a: b", "allowed-tools: Read", "version: 1", "license: &a b"]  # fmt: skip
    verdicts = []
    for number in range(300):
        # Valid parts come first in each list, and are drawn more often.
        lines = [names[min(chance.randrange(12), 11) % 8 if chance.random() < 0.4 else 0]]
        lines.append(descriptions[chance.randrange(7) if chance.random() < 0.4 else 0])
        lines += chance.sample(rest, chance.randrange(3))
        chance.shuffle(lines)
        text = "---\n" + "\n".join(filter(None, lines)) + "\n---\nbody\n"
        under = tmp_path / str(number)
        under.mkdir()
        folder = put(Case("", text.encode(), "s"), under)
        verdict = ours(folder)
        assert verdict == reference(folder), text
        verdicts.append(verdict)
    assert 50 < sum(verdicts) < 250, "the combinations must be mixed to mean anything"
