"""A skill that asks for network: without a grant it reaches nothing, with one what it asked for."""

from __future__ import annotations

from pathlib import Path

from tests.command import COMMAND
from tests.network.conftest import Internet
from tests.network.internet import PUBLIC
from tests.skill_folders import write_skill

FETCH = "import urllib.request as u; print(u.urlopen('http://{}/').read().decode())"


def test_a_granted_skill_reaches_what_it_asked_for_and_no_more(
    internet: Internet, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    skill = write_skill(
        tmp_path / "caller",
        {
            "scripts/asked.py": FETCH.format("api.example.com"),
            "scripts/other.py": FETCH.format("other.example.org"),
        },
        fields='metadata:\n  wardian-net: "api.example.com:80"\n',
    )
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    without = internet.run(*COMMAND, "run", skill, "asked.py", env=env)
    assert without.code == 1
    assert "this skill asks for network: api.example.com:80; allow: --grant" in without.stderr
    assert without.seen == []
    done = internet.run(*COMMAND, "run", skill, "asked.py", "--grant", env=env)
    assert (done.code, done.visits[0][1]) == (0, PUBLIC), done.stderr
    other = internet.run(*COMMAND, "run", skill, "other.py", "--grant", env=env)
    assert (other.code, other.seen) == (1, [])
    assert "--net other.example.org" in other.stderr
