"""Clones of skill repositories: marketplaces, plugins, and links inside one tree."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.skill_folders import MakeSkill
from wardian.skills import check, discover, find_skills, load_skill
from wardian.skills.clones import clone_top
from wardian.skills.plugins import plugins_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def clone(tmp_path: Path, home: Path) -> Path:
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    return tmp_path / "clone"


def marketplace(top: Path, *plugins: dict[str, Any], **more: Any) -> None:
    (top / ".claude-plugin").mkdir(exist_ok=True)
    document = {"plugins": list(plugins), **more}
    (top / ".claude-plugin" / "marketplace.json").write_text(json.dumps(document))


def listed(clone: Path, home: Path) -> list[tuple[str, str, str | None]]:
    return [(one.name, one.client, one.plugin) for one in discover(clone, home)]


@pytest.mark.parametrize(
    "source", ["./tools", "tools", {"source": "local", "path": "./tools"}, {"path": "tools"}]
)
def test_a_plugin_with_only_a_source_has_the_skills_below_it(
    make_skill: MakeSkill, clone: Path, home: Path, source: object
) -> None:
    make_skill("one", under=clone / "tools" / "skills")
    marketplace(clone, {"name": "kit", "source": source})
    assert listed(clone, home) == [("one", "claude", "kit")]


def test_a_source_counts_from_the_plugin_root_of_its_marketplace(
    make_skill: MakeSkill, clone: Path, home: Path
) -> None:
    make_skill("one", under=clone / "plugins" / "tools" / "skills")
    marketplace(clone, {"name": "kit", "source": "tools"}, metadata={"pluginRoot": "./plugins"})
    assert listed(clone, home) == [("one", "claude", "kit")]


def test_the_whole_clone_can_be_a_plugin(make_skill: MakeSkill, clone: Path, home: Path) -> None:
    make_skill("one", under=clone / "skills" / "group")
    (clone / ".claude-plugin").mkdir()
    (clone / ".claude-plugin" / "plugin.json").write_text('{"name": "kit"}')
    assert listed(clone, home) == [("one", "claude", "kit")]


@pytest.mark.parametrize("named", ["./more", ["./more"], ["./more/one"]])
def test_a_manifest_names_more_folders_of_skills(
    make_skill: MakeSkill, clone: Path, home: Path, named: object
) -> None:
    make_skill("one", under=clone / "tools" / "more")
    make_skill("two", under=clone / "tools" / "skills")
    (clone / "tools" / ".claude-plugin").mkdir()
    (clone / "tools" / ".claude-plugin" / "plugin.json").write_text(json.dumps({"skills": named}))
    marketplace(clone, {"name": "kit", "source": "./tools"})
    assert sorted(listed(clone, home)) == [("one", "claude", "kit"), ("two", "claude", "kit")]


def test_a_plugin_can_be_one_skill(make_skill: MakeSkill, clone: Path, home: Path) -> None:
    make_skill("one", under=clone)
    marketplace(clone, {"name": "kit", "source": "./one"})
    assert listed(clone, home) == [("one", "claude", "kit")]


@pytest.mark.parametrize("under", ["skills", "skills/.curated", "a/b/c", "."])
def test_a_clone_needs_no_manifest_to_be_listed(
    make_skill: MakeSkill, clone: Path, home: Path, under: str
) -> None:
    make_skill("one", under=clone / under)
    make_skill("top", under=clone)
    assert sorted(listed(clone, home)) == [("one", "clone", None), ("top", "clone", None)]


def test_a_project_that_only_uses_skills_is_not_searched_for_more(
    make_skill: MakeSkill, clone: Path, home: Path
) -> None:
    make_skill("used", under=clone / ".agents" / "skills")
    make_skill("fixture", under=clone / "tests" / "data")
    assert listed(clone, home) == [("used", "agents", None)]


@pytest.mark.parametrize(
    "source",
    ["../outside", "/etc", "~", "link", "x\0y", 3, None, ["tools"], "a" * 5000,
     {"source": "url", "url": "https://example.org/x", "path": "tools"}, {"source": 1}],
)  # fmt: skip
def test_no_source_leads_out_of_the_clone(
    make_skill: MakeSkill, clone: Path, home: Path, source: object
) -> None:
    make_skill("secret", under=clone.parent / "outside" / "skills")
    make_skill("local", under=clone / "tools" / "skills")
    (clone / "link").symlink_to(clone.parent / "outside")
    marketplace(clone, {"name": "kit", "source": source})
    assert plugins_of(clone) == []
    assert "secret" not in [one.name for one in discover(clone, home)]


def test_a_marketplace_that_is_a_link_out_is_not_read(clone: Path, tmp_path: Path) -> None:
    marketplace(clone, {"name": "kit", "source": "./"})
    path = clone / ".claude-plugin" / "marketplace.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert plugins_of(clone) == []


def test_a_linked_skill_of_the_same_clone_counts_once(
    make_skill: MakeSkill, clone: Path, home: Path
) -> None:
    real = make_skill("one", under=clone / "skills")
    (clone / ".claude" / "skills").mkdir(parents=True)
    (clone / ".claude" / "skills" / "one").symlink_to("../../skills/one")
    (clone / "again").symlink_to(".")
    (found,) = discover(clone, home)
    assert found.path.resolve() == real
    assert find_skills(clone) == [real]


def test_a_linked_manifest_of_the_same_clone_is_the_skill_it_names(
    make_skill: MakeSkill, clone: Path, home: Path
) -> None:
    real = make_skill("one", under=clone / "team")
    folder = clone / ".gemini" / "skills" / "one"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").symlink_to("../../../team/one/SKILL.md")
    assert [(one.path, one.client) for one in discover(clone, home)] == [(real, "gemini")]
    assert load_skill(folder).name == "one"


def test_a_manifest_can_be_a_link_to_another_file_of_the_clone(
    make_skill: MakeSkill, clone: Path, home: Path
) -> None:
    folder = make_skill("one", under=clone / "skills")
    (folder / "SKILL.md").rename(clone / "one.md")
    (folder / "SKILL.md").symlink_to("../../one.md")
    assert load_skill(folder).name == "one"
    assert [one.code for one in check(folder) if one.severity == "error"] == []


@pytest.mark.parametrize("what", ["folder", "manifest"])
def test_a_link_out_of_the_clone_is_not_followed(
    make_skill: MakeSkill, clone: Path, home: Path, what: str
) -> None:
    outside = make_skill("outside", under=clone.parent)
    place = clone / "skills" / "outside"
    if what == "folder":
        place.parent.mkdir()
        place.symlink_to(outside)
    else:
        place.mkdir(parents=True)
        (place / "SKILL.md").symlink_to(outside / "SKILL.md")
    assert [one for one in discover(clone, home) if one.skill is not None] == []
    assert outside not in find_skills(clone)


def test_a_manifest_that_links_to_nothing_is_not_listed(
    make_skill: MakeSkill, clone: Path, home: Path
) -> None:
    make_skill("one", under=clone / "skills")
    (clone / "skills" / "gone").mkdir()
    (clone / "skills" / "gone" / "SKILL.md").symlink_to("nowhere")
    assert [one.name for one in discover(clone, home)] == ["one"]


def test_neither_the_home_nor_what_is_above_it_is_a_clone(home: Path, tmp_path: Path) -> None:
    for place in (home, tmp_path):
        (place / ".git").mkdir()
    (home / "a" / "b").mkdir(parents=True)
    assert clone_top(str(home / "a" / "b")) is None
    (home / "a" / ".git").mkdir()
    assert clone_top(str(home / "a" / "b")) == str(home / "a")
    assert clone_top(os.path.realpath("/")) is None
