"""Loading leniently: what a client would use loads, with its faults reported; the rest does not."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from tests.skill_folders import MakeSkill
from wardian.errors import SkillError
from wardian.skills import load_skill
from wardian.skills.checking import check
from wardian.skills.skill import MAX_MANIFEST_BYTES


def test_a_whole_skill_is_read(make_skill: MakeSkill) -> None:
    folder = make_skill(
        fields="license: MIT\ncompatibility: any\nmetadata:\n  a: b\nallowed-tools: Read\n",
        files={"scripts/run.py": "#!/usr/bin/env python3.12\n"},
    )
    skill = load_skill(folder)
    assert (skill.name, skill.description, skill.license) == ("my-skill", "Does it.", "MIT")
    assert (skill.compatibility, skill.metadata, skill.allowed_tools) == (
        "any",
        {"a": "b"},
        ("Read",),
    )
    assert [script.path for script in skill.scripts] == ["scripts/run.py"]
    assert skill.path == folder
    assert skill.diagnostics == ()


def test_a_wrong_name_warns_and_loads(make_skill: MakeSkill) -> None:
    folder = make_skill().rename(make_skill("other").parent / "renamed")
    skill = load_skill(folder)
    assert skill.name == "my-skill"
    assert [one.code for one in skill.diagnostics] == ["WS208"]


def test_a_missing_name_is_the_folders(make_skill: MakeSkill) -> None:
    folder = make_skill()
    (folder / "SKILL.md").write_text("---\ndescription: d\n---\n")
    skill = load_skill(folder)
    assert skill.name == "my-skill"
    assert [one.code for one in skill.diagnostics] == ["WS202"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("---\nname: my-skill\n---\n", "WS211"),
        ("---\nname: my-skill\ndescription: ' '\n---\n", "WS212"),
        ("---\nname: my-skill\ndescription: [a]\n---\n", "WS212"),
        ("---\nname: [\n---\n", "WS108"),
        ("nothing\n", "WS106"),
    ],
)
def test_what_clients_skip_does_not_load(make_skill: MakeSkill, text: str, code: str) -> None:
    folder = make_skill()
    (folder / "SKILL.md").write_text(text)
    with pytest.raises(SkillError, match=code):
        load_skill(folder)


def test_the_error_carries_file_line_and_column(make_skill: MakeSkill) -> None:
    folder = make_skill()
    (folder / "SKILL.md").write_text("---\nname: s\ndescription: d\nlicense: &a b\n---\n")
    with pytest.raises(SkillError) as caught:
        load_skill(folder)
    error = caught.value
    assert (error.path, error.line, error.column) == (f"{folder}/SKILL.md", 4, 10)


def test_the_manifest_itself_may_be_named(make_skill: MakeSkill) -> None:
    assert load_skill(make_skill() / "SKILL.md").name == "my-skill"


def test_the_current_directory_is_a_skill_too(
    make_skill: MakeSkill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_skill())
    assert load_skill(".").diagnostics == ()


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="no such skill"):
        load_skill(tmp_path / "nothing")
    with pytest.raises(SkillError, match="WS101"):
        load_skill(tmp_path)


def test_a_lower_case_manifest_loads_with_a_warning(make_skill: MakeSkill) -> None:
    folder = make_skill()
    (folder / "SKILL.md").rename(folder / "skill.md")
    assert [one.code for one in load_skill(folder).diagnostics] == ["WS114"]


class TestAManifestThatIsNoFile:
    """Each answers at once, and as a finding."""

    @pytest.fixture
    def empty(self, make_skill: MakeSkill) -> Path:
        folder = make_skill()
        (folder / "SKILL.md").unlink()
        return folder

    def refused(self, folder: Path) -> str:
        codes: list[str] = []
        thread = threading.Thread(target=lambda: codes.extend(one.code for one in check(folder)))
        thread.daemon = True
        thread.start()
        thread.join(5)
        assert not thread.is_alive(), "reading hangs"
        with pytest.raises(SkillError):
            load_skill(folder)
        return codes[0]

    def test_a_pipe_does_not_hang(self, empty: Path) -> None:
        os.mkfifo(empty / "SKILL.md")
        assert self.refused(empty) == "WS102"

    def test_a_directory_is_refused(self, empty: Path) -> None:
        (empty / "SKILL.md").mkdir()
        assert self.refused(empty) == "WS102"

    def test_a_link_is_not_followed(self, empty: Path) -> None:
        (empty / "SKILL.md").symlink_to("/etc/passwd")
        assert self.refused(empty) == "WS102"

    def test_a_link_to_an_endless_device_is_not_followed(self, empty: Path) -> None:
        (empty / "SKILL.md").symlink_to("/dev/zero")
        assert self.refused(empty) == "WS102"

    def test_a_socket_is_refused(self, empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(empty)  # a socket's path has at most 107 bytes
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("SKILL.md")
            assert self.refused(empty) == "WS102"

    def test_fifty_megabytes_are_not_read(self, empty: Path) -> None:
        with (empty / "SKILL.md").open("wb") as file:
            file.write(b"---\nname: my-skill\ndescription: ")
            file.truncate(50 << 20)
        assert (empty / "SKILL.md").stat().st_size > MAX_MANIFEST_BYTES
        assert self.refused(empty) == "WS103"

    def test_latin_1_is_refused_with_its_line(self, empty: Path) -> None:
        (empty / "SKILL.md").write_bytes(b"---\nname: my-skill\ndescription: caf\xe9\n---\n")
        assert self.refused(empty) == "WS104"
        assert check(empty)[0].line == 3


def test_a_terminal_escape_written_in_yaml_is_shown_and_not_obeyed(make_skill: MakeSkill) -> None:
    from wardian.skills.diagnostic import described

    folder = make_skill("s")
    text = '---\nname: "\\e[2Js\\n\\u202e"\ndescription: d\n---\n'
    (folder / "SKILL.md").write_text(text)
    shown = [line for one in check(folder) for line in described(one).split("\n")]
    assert shown
    assert all(line.isprintable() for line in shown)
