"""What the sandbox that fetches packages reaches: the hosts of the user's index settings, whatever
an index, a page, a package or a skill says."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.runner.conftest import environment, make_skill, needs, wardian
from tests.runner.hostile import Index, publish, serving, wheel, without
from tests.skill_folders import MakeSkill

__all__ = ["environment", "make_skill", "wardian"]
TOOLS = [
    pytest.param("uv", marks=pytest.mark.skipif(not shutil.which("uv"), reason="uv is missing")),
    "pip",
]
PLAIN = "import friendly; print('friendly', friendly.X)"


@pytest.fixture
def index() -> Iterator[Index]:
    with serving(Index()) as made:
        made.add(*wheel("friendly", {"friendly.py": "X = 1"}))
        yield made


@pytest.fixture
def elsewhere() -> Iterator[Index]:
    """Another server of this machine: what must not be asked for anything."""
    with serving(Index()) as made:
        yield made


def settings_for(tool: str, url: str) -> dict[str, str]:
    found = {
        "PIP_INDEX_URL": f"{url}/simple",
        "PIP_NO_INDEX": "0",
        "PIP_RETRIES": "0",
        "UV_HTTP_RETRIES": "0",
    }
    return found | ({"PATH": without("uv")} if tool == "pip" else {})


@pytest.mark.parametrize("tool", TOOLS)
def test_a_page_that_links_elsewhere_leads_nowhere(
    tool: str, index: Index, elsewhere: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    name, data = wheel("friendly", {"friendly.py": "X = 9"}, version="9.0")
    elsewhere.add(name, data)
    index.pages["friendly"] = f'<a href="{elsewhere.url}/files/{name}">{name}</a>'
    skill = make_skill({"scripts/a.py": PLAIN})
    env = settings_for(tool, index.url)
    done = wardian("run", skill, "a.py", "--with", "friendly", env=env)
    assert done.returncode == 125
    assert elsewhere.asked == []
    host = elsewhere.url.removeprefix("http://")
    assert f"it was redirected to {host}, which is not in your index settings" in done.stderr
    assert f"WARDIAN_INDEX_HOSTS={host}" in done.stderr
    cured = wardian(
        "run", skill, "a.py", "--with", "friendly", env=env | {"WARDIAN_INDEX_HOSTS": host}
    )
    assert cured.stdout == "friendly 9\n", cured.stderr


@pytest.mark.parametrize("tool", TOOLS)
def test_a_redirect_elsewhere_leads_nowhere(
    tool: str, index: Index, elsewhere: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    name, data = wheel("friendly", {"friendly.py": "X = 9"}, version="9.0")
    index.add(name, data)
    elsewhere.add(name, data)
    index.redirects[f"/files/{name}"] = f"{elsewhere.url}/files/{name}"
    skill = make_skill({"scripts/a.py": PLAIN})
    done = wardian("run", skill, "a.py", "--with", "friendly", env=settings_for(tool, index.url))
    assert done.returncode == 125
    assert elsewhere.asked == []
    assert f"led to {elsewhere.url.removeprefix('http://')}" in done.stderr


def test_a_package_that_requires_a_url_leads_nowhere(
    index: Index, elsewhere: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    name, data = wheel("friendly", {"friendly.py": "X = 9"}, version="9.0")
    elsewhere.add(name, data)
    index.add(*wheel("lure", {"lure.py": ""}, (f"friendly @ {elsewhere.url}/files/{name}",)))
    skill = make_skill({"scripts/a.py": PLAIN})
    done = wardian("run", skill, "a.py", "--with", "lure", env=settings_for("pip", index.url))
    assert done.returncode == 125
    assert elsewhere.asked == []


@pytest.mark.parametrize("tool", TOOLS)
def test_a_skill_names_no_address(
    tool: str, index: Index, elsewhere: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    """Of the host's loopback, where services trust whoever asks; the caller may name it."""
    name, data = wheel("friendly", {"friendly.py": "X = 9"}, version="9.0")
    elsewhere.add(name, data)
    wish = f"friendly @ {elsewhere.url}/files/{name}"
    skill = make_skill({"scripts/a.py": PLAIN, "requirements.txt": wish})
    env = settings_for(tool, index.url)
    done = wardian("run", skill, "a.py", env=env)
    assert done.returncode == 125
    assert elsewhere.asked == []
    plain = make_skill({"scripts/a.py": PLAIN}, "plain")
    assert wardian("run", plain, "a.py", "--with", wish, env=env).stdout == "friendly 9\n"


@needs("npm")
def test_a_registry_that_names_tarballs_elsewhere_leads_nowhere(
    index: Index, elsewhere: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    publish(index, "padder")
    document = json.loads(index.files["padder"])
    about = document["versions"]["1.0.0"]["dist"]
    about["tarball"] = about["tarball"].replace(index.url, elsewhere.url)
    index.files["padder"] = json.dumps(document).encode()
    skill = make_skill({"scripts/a.cjs": "console.log(require('padder')())"})
    env = {"npm_config_registry": index.url, "npm_config_fetch_retries": "0"}
    done = wardian("run", skill, "a.cjs", "--with", "npm:padder", env=env)
    assert done.returncode == 125
    assert elsewhere.asked == []
    assert f"led to {elsewhere.url.removeprefix('http://')}" in done.stderr


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
@pytest.mark.parametrize("tool", TOOLS)
def test_an_index_on_this_machine_is_reached_by_any_name(
    tool: str, host: str, index: Index, make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": PLAIN})
    env = settings_for(tool, index.url.replace("127.0.0.1", host))
    done = wardian("run", skill, "a.py", "--with", "friendly", env=env)
    assert done.stdout == "friendly 1\n", done.stderr


def test_without_an_index_on_a_network_there_is_none(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    (tmp_path / "links").mkdir()
    name, data = wheel("friendly", {"friendly.py": "X = 1"})
    (tmp_path / "links" / name).write_bytes(data)
    env = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(tmp_path / "links"),
        "PATH": os.environ["PATH"],
    }
    skill = make_skill({"scripts/a.py": PLAIN})
    done = wardian("run", skill, "a.py", "--with", "friendly", env=env)
    assert done.stdout == "friendly 1\n", done.stderr
