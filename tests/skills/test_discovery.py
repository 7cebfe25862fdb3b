"""Where skills are found, and which of two wins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.skill_folders import MakeSkill
from wardian.skills import discover, find_skills
from wardian.skills.plugins import plugins_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "src" / "project").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def project(home: Path) -> Path:
    return home / "src" / "project"


@pytest.mark.parametrize("client", [".agents", ".claude", ".codex", ".gemini", ".cursor"])
def test_every_clients_folder_is_looked_into(
    make_skill: MakeSkill, home: Path, project: Path, client: str
) -> None:
    make_skill("mine", under=project / client / "skills")
    make_skill("yours", under=home / client / "skills")
    found = [(one.name, one.scope, one.client) for one in discover(project, home)]
    assert found == [("mine", "project", client[1:]), ("yours", "user", client[1:])]


def test_the_projects_skill_shadows_the_users(
    make_skill: MakeSkill, home: Path, project: Path
) -> None:
    wins = make_skill("same", under=project / ".cursor" / "skills")
    loses = make_skill("same", under=home / ".agents" / "skills")
    found = {one.path: one.shadowed_by for one in discover(project, home)}
    assert found == {wins: None, loses: wins}


def test_the_nearer_project_folder_wins_and_the_repository_ends_the_search(
    make_skill: MakeSkill, home: Path, project: Path
) -> None:
    (project.parent / ".git").mkdir()
    near = make_skill("same", under=project / ".claude" / "skills")
    far = make_skill("same", under=project.parent / ".agents" / "skills")
    make_skill("unseen", under=project.parents[1] / "src-unrelated")
    found = [(one.path, one.shadowed_by) for one in discover(project, home)]
    assert found == [(near, None), (far, near)]


def test_a_skill_that_does_not_load_is_listed_with_the_reason(
    make_skill: MakeSkill, home: Path, project: Path
) -> None:
    folder = make_skill("bad", under=project / ".agents" / "skills")
    (folder / "SKILL.md").write_text("nothing")
    (one,) = discover(project, home)
    assert one.skill is None
    assert "WS106" in str(one.problem)


def test_a_bad_one_shadows_nothing(make_skill: MakeSkill, home: Path, project: Path) -> None:
    folder = make_skill("same", under=project / ".agents" / "skills")
    (folder / "SKILL.md").write_text("nothing")
    make_skill("same", under=home / ".agents" / "skills")
    assert [one.shadowed_by for one in discover(project, home)] == [None, None]


def test_skills_below_a_skill_are_found_but_not_its_own_files_and_junk(
    make_skill: MakeSkill, tmp_path: Path
) -> None:
    outer = make_skill("outer", under=tmp_path / "skills")
    inner = make_skill("inner", under=outer)
    for own in ("assets", "references", "scripts"):
        make_skill("sample", under=outer / own)
    make_skill("packaged", under=tmp_path / "skills" / "node_modules")
    make_skill("old", under=tmp_path / "skills" / ".git")
    grouped = make_skill("grouped", under=tmp_path / "skills" / "group")
    assert find_skills(tmp_path / "skills") == [grouped, outer, inner]


def test_a_broken_manifest_at_the_top_hides_nothing_below(
    make_skill: MakeSkill, home: Path, project: Path
) -> None:
    (project / "SKILL.md").write_text("no frontmatter")
    below = make_skill("below", under=project / "skills")
    assert [(one.path, one.skill is None) for one in discover(project, home)] == [
        (project, True),
        (below, False),
    ]
    assert find_skills(project) == [project, below]


def test_the_scan_is_bounded_in_depth_and_number(make_skill: MakeSkill, tmp_path: Path) -> None:
    make_skill("deep", under=tmp_path / "skills" / "/".join("abcdefgh"))
    assert find_skills(tmp_path / "skills") == []
    for number in range(250):
        (tmp_path / "wide" / f"{number:05}").mkdir(parents=True)
    make_skill("zzz", under=tmp_path / "wide")
    assert find_skills(tmp_path / "wide", max_directories=200) == []
    assert len(find_skills(tmp_path / "wide")) == 1


def test_links_in_a_circle_end(make_skill: MakeSkill, tmp_path: Path) -> None:
    folder = make_skill("one", under=tmp_path / "skills")
    (tmp_path / "skills" / "loop").symlink_to(tmp_path / "skills")
    assert find_skills(tmp_path / "skills") == [tmp_path / "skills" / "loop" / "one"] or (
        find_skills(tmp_path / "skills") == [folder]
    )


def test_a_linked_skill_is_found_once(make_skill: MakeSkill, home: Path, project: Path) -> None:
    folder = make_skill("one", under=home / "repo")
    for client in (".agents", ".claude"):
        (home / client / "skills").mkdir(parents=True)
        (home / client / "skills" / "one").symlink_to(folder)
    assert [one.client for one in discover(project, home)] == ["agents"]


def test_a_marketplace_names_its_skills(make_skill: MakeSkill, home: Path, project: Path) -> None:
    repository = home / ".claude" / "plugins" / "marketplaces" / "shop"
    listed = make_skill("listed", under=repository / "skills")
    make_skill("unlisted", under=repository / "skills")
    make_skill("outside", under=home)
    plugins = [{"name": "p", "source": "./", "skills": ["./skills/listed", "../../../../outside"]}]
    path = repository / ".claude-plugin" / "marketplace.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"plugins": plugins}))
    assert [one.path for one in discover(project, home)] == [listed]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"plugins": [1]}', '{"plugins": 3}', "[" * 9999])
def test_a_broken_marketplace_names_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".claude-plugin" / "marketplace.json"
    path.parent.mkdir()
    path.write_text(text)
    assert plugins_of(tmp_path) == []
