"""What a skill asks for in its SKILL.md grants nothing by itself, and not everything with --grant;
no text of it reaches the terminal as it is."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.runner.conftest import environment, make_skill, wardian
from tests.skill_folders import MakeSkill
from wardian import Policy, Sandbox
from wardian.errors import UsageError
from wardian.runner.wishes import MOST, SkillWishes, wishes_in, wishes_of

__all__ = ["environment", "make_skill", "wardian"]
PROMPT_S = 20.0


@pytest.fixture
def asker(make_skill: MakeSkill) -> Path:
    skill = make_skill({"scripts/a.sh": "echo ran"})
    ask(skill, "api.example.com *.example.org:8443")
    return skill


def ask(skill: Path, wish: str, key: str = "wardian-net") -> None:
    manifest = skill / "SKILL.md"
    lines = ["---", f"name: {skill.name}", "description: Asks.", "metadata:"]
    manifest.write_text("\n".join([*lines, f"  {key}: {json.dumps(wish)}", "---", "", "Ask.", ""]))


def test_a_wish_is_shown_and_not_granted(asker: Path, wardian: Wardian) -> None:
    for words in (("run", asker, "a.sh"), ("exec", "--skill", asker, "--", "echo", "ran")):
        done = wardian(*words)
        assert done.stdout == "ran\n"
        line = "this skill asks for network: api.example.com, *.example.org:8443; allow: --grant"
        assert line in done.stderr
    assert wardian("run", asker, "a.sh", "-q").stderr == ""


def test_a_grant_is_exactly_what_was_shown(asker: Path, wardian: Wardian, tmp_path: Path) -> None:
    records = tmp_path / "records"
    done = wardian("run", asker, "a.sh", "--grant", "--record", records)
    assert "granted to this skill: network: api.example.com, *.example.org:8443" in done.stderr
    (record,) = records.iterdir()
    policy = (record / "policy.toml").read_text()
    assert 'allow = ["api.example.com", "*.example.org:8443"]' in policy
    about = json.loads((record / "record.json").read_text())["skill"]["requests"]
    assert about["network"] == ["api.example.com", "*.example.org:8443"]
    assert about["granted"] is True


def test_the_document_has_wishes_and_whether_they_were_granted(
    asker: Path, wardian: Wardian
) -> None:
    ask(asker, "api.example.com host")
    wanted = {
        "network": ["api.example.com"],
        "granted": False,
        "refused": [
            {"wish": "host", "reason": "not a host name; the caller has to type it: --net"}
        ],
    }
    done = wardian("run", asker, "a.sh", "--json")
    assert json.loads(done.stdout)["requests"] == wanted
    done = wardian("run", asker, "a.sh", "--json", "--grant")
    assert json.loads(done.stdout)["requests"] == wanted | {"granted": True}
    shown = json.loads(wardian("show", asker, "--json").stdout)["skills"][0]["requests"]
    assert shown == wanted


def test_what_is_allowed_already_is_not_asked_for(asker: Path, wardian: Wardian) -> None:
    done = wardian("run", asker, "a.sh", "--net", "api.example.com")
    assert "asks for network: *.example.org:8443; allow: --grant" in done.stderr
    done = wardian("run", asker, "a.sh", "--net", "host")
    assert "asks for" not in done.stderr


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("exec", "--grant", "--", "true"), "--grant needs a skill"),
        (("run", "SKILL", "a.sh", "--grant", "--net", "none"), "--net none cannot be combined"),
    ],
)
def test_a_grant_that_means_nothing_is_an_error(
    words: tuple[str, ...], error: str, asker: Path, wardian: Wardian
) -> None:
    done = wardian(*(str(asker) if word == "SKILL" else word for word in words))
    assert done.returncode == 125
    assert error in done.stderr


HOSTILE = [
    "host", "none", "ask", "*", "**", "**.example.com", "*.com", "*.co.uk", "*.github.io", "com.*",
    "10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "[::]/0", "[::1]:80", "127.0.0.1:80", "169.254.169.254",
    "0x7f.1", "2130706433", "localhost", "x.localhost", "printer", "nas.local", "api.example.com:0",
    "api.example.com:1-65535", "api.example.com:99999", "http://api.example.com/", "-x",
    "--write=/", "api.example.com;id", "$(id).example.com", "a" * 301, "x" * 64 + ".example.com",
    "\x1b[31mred.example.com", "\u202eexample.com", "api.example.com\x00.evil.example",
]  # fmt: skip


@pytest.mark.parametrize("wish", HOSTILE)
def test_a_wish_that_is_too_wide_or_none_is_refused_and_shown_harmlessly(wish: str) -> None:
    found = wishes_in({"wardian-net": wish})
    assert found.net == ()
    for one in found.refused:
        assert (one.wish + one.reason).isprintable()
        assert len(one.wish) <= 100


def test_a_name_is_shown_in_the_form_that_is_compared() -> None:
    found = wishes_in({"wardian-net": "API.Example.COM. \u0430pi.example.com"})  # Cyrillic a
    assert found.net[0] == "api.example.com"
    assert found.net[1].startswith("xn--")


def test_a_flood_of_wishes_is_cut(asker: Path, wardian: Wardian) -> None:
    ask(asker, " ".join(f"h{n}.example.com" for n in range(10_000)))
    began = time.monotonic()
    done = wardian("run", asker, "a.sh")
    assert time.monotonic() - began < PROMPT_S
    assert done.stdout == "ran\n"
    assert "ignored: 9,980 more: 20 are the most" in done.stderr
    assert len(wishes_of(str(asker)).net) == MOST
    assert len(done.stderr) < 2000


@pytest.mark.parametrize(
    "text",
    [
        "", "---\nwardian-net: x.example.com\n---\n", "wardian-net: x.example.com",
        "---\nname: demo\ndescription: d\nmetadata: [wardian-net, x.example.com]\n---\n",
        "---\nname: demo\ndescription: d\nmetadata:\n  wardian-net: [x.example.com]\n---\n",
        "---\nname: demo\ndescription: d\nmetadata: &a {wardian-net: *a}\n---\n",
    ],
)  # fmt: skip
def test_what_is_no_metadata_asks_for_nothing(text: str, asker: Path) -> None:
    (asker / "SKILL.md").write_text(text)
    assert wishes_of(str(asker)) == SkillWishes()


def test_a_manifest_elsewhere_asks_for_nothing(asker: Path, tmp_path: Path) -> None:
    (asker / "SKILL.md").rename(tmp_path / "other.md")
    (asker / "SKILL.md").symlink_to(tmp_path / "other.md")
    assert wishes_of(str(asker)) == SkillWishes()


def test_what_a_guest_may_have_written_is_not_granted(asker: Path, wardian: Wardian) -> None:
    """A run that may write to the skill asks for more in its name; the caller typed --grant before
    and types it again."""
    edit = f"sed -i s/api.example.com/evil.example.net/ {asker}/SKILL.md"
    done = wardian("exec", "--write", asker, "--", "sh", "-c", edit)
    assert done.returncode == 0, done.stderr
    assert "evil.example.net" in (asker / "SKILL.md").read_text()
    done = wardian("run", asker, "a.sh", "--grant")
    assert done.returncode == 125
    assert "a guest may have written what this skill asks for" in done.stderr
    assert "--net evil.example.net --net '*.example.org:8443'" in done.stderr
    assert done.stdout == ""


def test_check_finds_what_can_t_be_granted(asker: Path, wardian: Wardian) -> None:
    assert wardian("check", asker).returncode == 0
    ask(asker, "*.com")
    done = wardian("check", asker)
    assert done.returncode == 1
    assert "WS241" in done.stdout + done.stderr
    ask(asker, "x", key="wardian-frobnicate")
    done = wardian("check", asker)
    assert done.returncode == 0
    assert "WS242" in done.stdout + done.stderr


def test_from_python_a_grant_is_a_word_of_the_caller(asker: Path) -> None:
    lines: list[str] = []
    with Sandbox.create(skill=asker, on_progress=lines.append) as sandbox:
        assert sandbox.policy.network == "none"
    assert any("allow: --grant" in line for line in lines)
    with Sandbox.create(Policy.default(), skill=asker, grant=True) as sandbox:
        assert sandbox.policy.network == "names"
        assert sandbox.policy.allow_hosts == ("api.example.com", "*.example.org:8443")
    with pytest.raises(UsageError, match="requests"):
        Sandbox.create(grant=True)
