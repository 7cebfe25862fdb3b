"""Where the frontmatter ends, and what it may hold."""

from __future__ import annotations

import pytest

from wardian.skills import frontmatter, manifest, yamltree
from wardian.skills.diagnostic import UnreadableError

GOOD = "name: s\ndescription: d\n"


def code_of(text: str) -> str:
    with pytest.raises(UnreadableError) as caught:
        manifest.read(text, "SKILL.md", "s")
    return caught.value.diagnostic.code


def codes(text: str) -> list[str]:
    return [one.code for one in manifest.read(text, "SKILL.md", "s").diagnostics]


def test_a_dashed_rule_in_the_body_belongs_to_the_body() -> None:
    read = manifest.read(f"---\n{GOOD}---\none\n\n---\n\ntwo\n", "SKILL.md", "s")
    assert read.body == "one\n\n---\n\ntwo\n"
    assert read.body_line == 5


@pytest.mark.parametrize("written", ["a --- b", "'a --- b'", '"a\n  --- b"', "|\n  a\n  ---\n  b"])
def test_dashes_inside_a_description_do_not_end_it(written: str) -> None:
    read = manifest.read(f"---\nname: s\ndescription: {written}\n---\nbody\n", "SKILL.md", "s")
    assert read.description is not None
    assert "---" in read.description
    assert read.description.endswith("b")
    assert read.body == "body\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(end: str, mark: str) -> None:
    text = mark + f"---\n{GOOD}---\nbody\n".replace("\n", end)
    read = manifest.read(text, "SKILL.md", "s")
    assert (read.name, read.description, read.body) == ("s", "d", "body\n")
    assert [one.code for one in read.diagnostics] == (["WS113"] if mark else [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "WS106"),
        ("# Title\n", "WS106"),
        (f"\n---\n{GOOD}---\n", "WS106"),
        (f"---\n{GOOD}", "WS107"),
        (f"---\n{GOOD} ---\n", "WS107"),
        ("---", "WS107"),
        ("---\n---\n", "WS110"),
        ("---\n- a\n---\n", "WS110"),
        ("---\ntext\n---\n", "WS110"),
        ("---\na: [b\n---\n", "WS108"),
        ("---\na:\n\tc: d\n---\n", "WS108"),
    ],
)
def test_what_has_no_fields_is_unreadable(text: str, code: str) -> None:
    assert code_of(text) == code


def test_a_bare_colon_is_read_as_lenient_clients_do_and_told() -> None:
    text = "---\nname: s\ndescription: Use when: it's asked\n  twice: yes\nlicense: MIT\n---\n"
    read = manifest.read(text, "SKILL.md", "s")
    assert read.description == "Use when: it's asked twice: yes"
    assert read.license == "MIT"
    assert [(one.code, one.line) for one in read.diagnostics] == [("WS112", 3)]


def test_a_key_that_stands_twice_is_told_with_its_place_and_the_first_wins() -> None:
    read = manifest.read(f"---\n{GOOD}name: t\nmetadata:\n  a: b\n  a: c\n---\n", "SKILL.md", "s")
    assert read.name == "s"
    assert read.metadata == {"a": "b"}
    reported = [(one.code, one.line, one.column) for one in read.diagnostics]
    assert reported == [("WS111", 4, 1), ("WS111", 7, 3)]


@pytest.mark.parametrize(
    "line",
    [
        "x: &a b",
        "x: *a",
        "x: !!python/object/apply:os.system ['touch /tmp/wardian-owned']",
        "x: !!python/name:os.system",
        "x: !mine y",
        "x: !!binary aGk=",
        "<<: {a: b}",
        "metadata: " + "[" * 17 + "]" * 17,
        "? [a]\n: b",
    ],
)
def test_yaml_that_a_manifest_never_needs_is_refused(line: str) -> None:
    assert code_of(f"---\n{GOOD}{line}\n---\n") == "WS109"


def test_an_alias_bomb_is_refused_at_its_first_anchor() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    assert code_of("---\n" + "\n".join(lines) + "\n---\n") == "WS109"


def test_very_deep_nesting_costs_nothing() -> None:
    assert code_of("---\n" + "[" * 100_000 + "\n---\n") == "WS109"
    assert code_of("---\n" + "- " * 100_000 + "\n---\n") == "WS109"


def test_very_many_values_are_refused() -> None:
    keys = "".join(f"k{n}: v\n" for n in range(yamltree.MAX_NODES // 2 + 1))
    assert code_of(f"---\n{keys}---\n") == "WS109"


def test_a_frontmatter_past_the_limit_is_refused_before_yaml_sees_it() -> None:
    long = "x" * (frontmatter.MAX_FRONTMATTER_CHARACTERS + 1)
    assert code_of(f"---\n{GOOD}license: {long}\n---\n") == "WS103"


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x0b"])
def test_a_control_character_is_refused_with_its_place(character: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        manifest.read(f"---\nname: s\ndescription: a{character}b\n---\n", "SKILL.md", "s")
    one = caught.value.diagnostic
    assert (one.code, one.line, one.column) == ("WS105", 3, 15)


def test_bare_numbers_and_words_stay_the_text_that_was_written() -> None:
    text = "---\nname: s\ndescription: yes\nlicense: 1.0\nmetadata: {v: 2024-01-01, w: 0x10}\n---\n"
    read = manifest.read(text, "SKILL.md", "s")
    assert (read.description, read.license) == ("yes", "1.0")
    assert read.metadata == {"v": "2024-01-01", "w": "0x10"}
    assert [one.code for one in read.diagnostics] == ["WS115"] * 4


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("Read Write", ("Read", "Write")),
        ("Bash(git add:*) Read", ("Bash(git add:*)", "Read")),
        ("Read, Write", ("Read", "Write")),
        ("[Read, 'Bash(git:*)']", ("Read", "Bash(git:*)")),
        ("\n  - Read\n  - Write", ("Read", "Write")),
        ("", ()),
    ],
)
def test_allowed_tools_are_read_however_they_are_written(
    written: str, tools: tuple[str, ...]
) -> None:
    read = manifest.read(f"---\n{GOOD}allowed-tools: {written}\n---\n", "SKILL.md", "s")
    assert read.allowed_tools == tools


def test_fields_of_other_clients_are_kept_apart_and_told() -> None:
    read = manifest.read(f"---\n{GOOD}argument-hint: FILE\n---\n", "SKILL.md", "s")
    assert read.other == {"argument-hint": "FILE"}
    assert [one.code for one in read.diagnostics] == ["WS201"]
