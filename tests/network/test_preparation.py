"""Packages prepared in the small internet: the sandbox that fetches reaches the user's index there,
by the user's own means, and nothing else of the internet."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.command import COMMAND
from tests.network.conftest import Done, Internet
from tests.network.internet import OTHER, PRIVATE, PUBLIC

TOOLS = ["uv", "pip"]


@pytest.fixture(params=TOOLS)
def tool(request: pytest.FixtureRequest) -> str:
    if request.param == "uv" and not shutil.which("uv"):
        pytest.skip("uv is not installed")
    return str(request.param)


def prepare(stocked: Internet, tool: str, tmp_path: Path, url: str, **variables: str) -> Done:
    """``exec --with tiny`` with this index."""
    entries = os.environ["PATH"].split(os.pathsep)
    if tool == "pip":
        entries = [one for one in entries if not os.path.exists(os.path.join(one, "uv"))]
    env = {
        "PATH": os.pathsep.join(entries),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "PIP_INDEX_URL": url,
        "PIP_CERT": str(stocked.directory / "ca.pem"),
        "PIP_RETRIES": "0",
        "UV_NO_CONFIG": "1",
        "UV_HTTP_RETRIES": "0",
        **variables,
    }
    line = [*COMMAND, "exec", "--with", "tiny", "--", "python3", "-c", "import tiny; print('made')"]
    return stocked.run(*line, env=env, timeout_s=120)


def test_an_index_by_name_is_reached_and_nothing_else(
    stocked: Internet, tool: str, tmp_path: Path
) -> None:
    done = prepare(stocked, tool, tmp_path, "https://api.example.com/files/simple/")
    assert done.stdout == "made\n", done.stderr
    assert {one[1] for one in done.visits if one[0] != "sni"} == {PUBLIC}
    asked = {one[2] for one in done.seen if one[0] == "dns"}
    assert asked == {"api.example.com"}


def test_an_index_at_a_private_address_is_reached_for_the_user_named_it(
    stocked: Internet, tool: str, tmp_path: Path
) -> None:
    done = prepare(stocked, tool, tmp_path, "https://intern.example.com/files/simple/")
    assert done.stdout == "made\n", done.stderr
    assert {one[1] for one in done.visits if one[0] != "sni"} == {PRIVATE}


def test_a_page_that_links_to_another_host_leads_nowhere(
    stocked: Internet, tool: str, tmp_path: Path
) -> None:
    done = prepare(stocked, tool, tmp_path, "https://api.example.com/files/luring/")
    assert done.code == 125
    assert OTHER not in {one[1] for one in done.visits}
    assert not done.asked("other.example.org")
    assert "it was redirected to other.example.org" in done.stderr
    assert "WARDIAN_INDEX_HOSTS=other.example.org" in done.stderr
    more = {"WARDIAN_INDEX_HOSTS": "other.example.org"}
    cured = prepare(stocked, tool, tmp_path, "https://api.example.com/files/luring/", **more)
    assert cured.stdout == "made\n", cured.stderr


@pytest.mark.parametrize("variable", ["https_proxy", "PIP_PROXY"])
def test_the_user_s_proxy_is_the_way_to_the_index(
    variable: str, stocked: Internet, tmp_path: Path
) -> None:
    """Dialled by wardian; the tool does not know of it, and can ask it for nothing else."""
    given = {variable: f"http://{OTHER}:3128"}
    done = prepare(stocked, "pip", tmp_path, "https://api.example.com/files/simple/", **given)
    assert done.stdout == "made\n", done.stderr
    tunnels = [one for one in done.seen if one[0] == "tunnel"]
    assert tunnels, done.stderr
    assert all(one == ["tunnel", OTHER, "api.example.com:443"] for one in tunnels)


def test_an_index_that_is_not_there_is_named(stocked: Internet, tool: str, tmp_path: Path) -> None:
    done = prepare(stocked, tool, tmp_path, "https://nowhere.example.com/simple/")
    assert done.code == 125
    assert "the package index can't be reached (nowhere.example.com:443" in done.stderr
