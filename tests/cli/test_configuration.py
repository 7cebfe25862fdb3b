"""Where values come from: flag, variable, project (may only tighten), user, shipped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import Wardian

Show = Callable[..., dict[str, Any]]


class Place:
    """A user with settings, and a project; both in a directory of their own."""

    def __init__(self, top: Path, wardian: Wardian) -> None:
        self.user = top / "config" / "wardian" / "config.toml"
        self.project = top / "project"
        self.project.mkdir(parents=True)
        self.user.parent.mkdir(parents=True)
        self.env = {"XDG_CONFIG_HOME": str(top / "config"), "XDG_STATE_HOME": str(top / "state")}
        self._wardian = wardian

    def __call__(self, *args: str, code: int = 0, cwd: Path | None = None, **env: str) -> Any:
        done = self._wardian(*args, cwd=cwd or self.project, **(self.env | env))
        assert done.returncode == code, done.stderr
        return done

    def show(self, *args: str, **env: str) -> dict[str, Any]:
        found = json.loads(self("config", "show", "--json", *args, **env).stdout)
        assert found["schema"] == "wardian.config/1"
        return dict(found["settings"])


@pytest.fixture
def place(tmp_path: Path, wardian: Wardian) -> Place:
    return Place(tmp_path / "place", wardian)


# Which one wins


def test_flag_variable_project_user_shipped(place: Place) -> None:
    def memory(*args: str, **env: str) -> tuple[str, str]:
        found = place.show(*args, **env)["limits.memory"]
        return found["value"], found["source"]

    assert memory() == ("4G", "shipped")
    place.user.write_text('[limits]\nmemory = "3G"\n')
    assert memory() == ("3G", f"{place.user}:2")
    (place.project / "wardian.toml").write_text('\n[limits]\nmemory = "2G"\n')
    assert memory() == ("2G", f"{place.project}/wardian.toml:3")
    assert memory(WARDIAN_MEMORY="1G") == ("1G", "WARDIAN_MEMORY")
    assert memory("--memory", "512M", WARDIAN_MEMORY="1G") == ("512M", "--memory")


def test_what_is_shown_is_what_a_run_gets(place: Place) -> None:
    place.user.write_text('[limits]\nmemory = "3G"\nprocesses = 77\n')
    (place.project / "wardian.toml").write_text('[limits]\ntime = "2m"\n')
    done = place("exec", "--json", "--files", "99", "--", "true", WARDIAN_CPU="9s")
    limits = {one["name"]: one["value"] for one in json.loads(done.stdout)["limits"]}
    assert limits["memory"] == 3 << 30
    assert (limits["time"], limits["cpu"], limits["processes"], limits["files"]) == (120, 9, 77, 99)
    shown = place("policy", "show", "--files", "99", "--json", WARDIAN_CPU="9s")
    digest = json.loads(done.stdout)["policy_digest"]
    assert json.loads(shown.stdout)["digest"] == digest


def test_a_named_policy_replaces_the_tables_of_both_files(place: Place, tmp_path: Path) -> None:
    place.user.write_text('[limits]\nmemory = "3G"\n')
    (place.project / "wardian.toml").write_text('[limits]\ntime = "2m"\n')
    (tmp_path / "mine.toml").write_text("[limits]\nprocesses = 50\n")
    for args, env, source in (
        (("--policy", str(tmp_path / "mine.toml")), {}, "--policy"),
        ((), {"WARDIAN_POLICY": str(tmp_path / "mine.toml")}, "WARDIAN_POLICY"),
    ):
        found = place.show(*args, **env)
        assert found["policy"] == {"value": str(tmp_path / "mine.toml"), "source": source}
        assert found["limits.processes"]["source"] == source
        assert (found["limits.memory"]["value"], found["limits.time"]["value"]) == ("4G", "10m")


def test_the_user_names_a_policy_and_the_rest_is_on_top(place: Place, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[limits]\nprocesses = 50\nmemory = "1G"\n')
    place.user.write_text(f'[run]\npolicy = "{tmp_path}/mine.toml"\n[limits]\nmemory = "2G"\n')
    found = place.show()
    assert (found["limits.processes"]["value"], found["limits.memory"]["value"]) == ("50", "2G")
    assert found["policy"]["source"] == f"{place.user}:2"


def test_every_limit_has_a_variable(place: Place) -> None:
    values = {"TIME": "11s", "CPU": "12s", "MEMORY": "13M", "PROCESSES": "14", "FILES": "15",
              "DISK": "16M", "OUTPUT": "17M"}  # fmt: skip
    found = place.show(**{f"WARDIAN_{name}": value for name, value in values.items()})
    for name, value in values.items():
        one = found[f"limits.{name.lower()}"]
        assert one == {"value": value, "source": f"WARDIAN_{name}"}
    done = place("exec", "--", "true", code=125, WARDIAN_TIME="soon")
    assert done.stderr.startswith("error: WARDIAN_TIME: ")


def test_config_path_names_the_files(place: Place) -> None:
    (place.project / "wardian.toml").write_text("")
    lines = place("config", "path").stdout.splitlines()
    assert lines[0].split(maxsplit=1)[1] == f"{place.user}  (does not exist)"
    assert lines[-1].split() == ["project", f"{place.project}/wardian.toml"]


def test_a_run_in_a_deleted_directory_has_no_project(place: Place) -> None:
    done = place("exec", "--", "sh", "-c", "true")
    assert done.stderr == ""


# The user's file


def test_a_backend_and_its_accepted_shortfalls_need_no_flags(place: Place) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed")
    refused = place("exec", "--backend", "bubblewrap", "--", "true", code=125)
    assert "--degrade landlock --degrade notify" in refused.stderr
    place.user.write_text('[backend.bubblewrap]\naccept = ["landlock", "notify"]\n')
    done = place("exec", "--backend", "bubblewrap", "--json", "--", "true")
    walls = {one["name"]: one for one in json.loads(done.stdout)["protections"]}
    assert (walls["landlock"]["requested"], walls["landlock"]["enforced"]) == (True, False)
    # What the backend can enforce, and other backends, lose nothing by it.
    place.user.write_text('[backend.bubblewrap]\naccept = ["landlock", "notify", "proc"]\n')
    done = place("exec", "--backend", "bubblewrap", "--json", "--", "true")
    walls = {one["name"]: one for one in json.loads(done.stdout)["protections"]}
    assert walls["proc"]["enforced"]
    other = json.loads(place("exec", "--json", "--", "true").stdout)
    assert all(one["enforced"] for one in other["protections"] if one["name"] == "notify")
    place.user.write_text('[backend.bubblewrap]\naccept = ["landlock"]\n')
    refused = place("exec", "--backend", "bubblewrap", "--", "true", code=125)
    assert "--degrade notify" in refused.stderr
    place.user.write_text(
        '[run]\nbackend = "bubblewrap"\n[backend.bubblewrap]\naccept = ["landlock", "notify"]\n'
    )
    assert json.loads(place("exec", "--json", "--", "true").stdout)["backend"] == "bubblewrap"
    wins = place("exec", "--json", "--", "true", WARDIAN_BACKEND="wardian").stdout
    assert json.loads(wins)["backend"] == "wardian"


def test_a_living_sandbox_gives_up_nothing_for_another_backend(place: Place) -> None:
    place.user.write_text(
        '[run]\nbackend = "bubblewrap"\n[backend.bubblewrap]\naccept = ["landlock", "notify"]\n'
    )
    place.env["XDG_RUNTIME_DIR"] = str(place.project.parent / "run")
    Path(place.env["XDG_RUNTIME_DIR"]).mkdir(mode=0o700)
    place("up", "-q", "accepting")
    try:
        done = place("exec", "--sandbox", "accepting", "--json", "--", "true")
        usual = json.loads(place("exec", "--backend", "wardian", "--json", "--", "true").stdout)
    finally:
        place("down", "accepting")
    for name in ("landlock", "notify"):
        walls = [
            one["enforced"]
            for document in (json.loads(done.stdout), usual)
            for one in document["protections"]
            if one["name"] == name
        ]
        assert walls[0] == walls[1], name


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [
        ('[run]\nbackend = "host"\n', "2:1", "host is only accepted on the command line"),
        ('[run]\nbackend = "bubblewarp"\n', "2:1", "did you mean 'bubblewrap'?"),
        ('[run]\npolicy = "mine.toml"\n', "2:1", "not an absolute path"),
        ("[run]\npolcy = 1\n", "2:1", "did you mean 'policy'?"),
        ('[backend.host]\naccept = ["landlock"]\n', "1:1", "unknown backend 'host'"),
        ('[backend.bubblewrap]\naccept = ["landlok"]\n', "2:1", "did you mean 'landlock'?"),
        ('[backend.bubblewrap]\naccept = "landlock"\n', "2:1", "expected a list of strings"),
        ("[backend.bubblewrap]\nacept = []\n", "2:1", "did you mean 'accept'?"),
        ('[limits]\nmemroy = "1G"\n', "2:1", "did you mean 'memory'?"),
        ('[limts]\nmemory = "1G"\n', "1:1", "did you mean 'limits'?"),
    ],
)
def test_a_wrong_user_file_is_refused_with_the_place(
    place: Place, text: str, at: str, said: str
) -> None:
    place.user.write_text(text)
    done = place("exec", "--", "true", code=125)
    assert done.stderr.startswith(f"error: {place.user}:{at}: ")
    assert said in done.stderr


def test_host_is_not_accepted_from_the_environment(place: Place) -> None:
    done = place("exec", "--", "true", code=125, WARDIAN_BACKEND="host")
    assert "WARDIAN_BACKEND: host is only accepted on the command line" in done.stderr


# Projects: tightening works for every kind of key


TIGHTENING = [
    ('[limits]\ntime = "1m"', "limits.time", "1m"),
    ('[limits]\ncpu = "1m"', "limits.cpu", "1m"),
    ('[limits]\nmemory = "1G"', "limits.memory", "1G"),
    ("[limits]\nprocesses = 50", "limits.processes", "50"),
    ("[limits]\nfiles = 50", "limits.files", "50"),
    ('[limits]\ndisk = "1M"', "limits.disk", "1M"),
    ('[limits]\noutput = "1M"', "limits.output", "1M"),
    ('[network]\nmode = "none"', "network.mode", "none"),
    ('[network]\ndeny = ["b.example.com"]', "network.deny", ["b.example.com"]),
    ("[network]\nmax_connections = 3", "network.max_connections", "3"),
    ("[network]\nmax_per_second = 3", "network.max_per_second", "3"),
    ('[network]\nmax_sent = "1M"', "network.max_sent", 1 << 20),
    ('[network]\nmax_received = "1M"', "network.max_received", 1 << 20),
    ('[environment]\nonly = ["LANG"]', "environment.only", ["LANG"]),
    ('[syscalls]\ndeny = ["mkdir"]', "syscalls.deny", ["mkdir"]),
    ('[files]\nbase = ["/usr/bin"]', "files.base", ["/usr/bin"]),
    ("[landlock]\nabi = 3", "landlock.abi", 3),
]


@pytest.mark.parametrize(("text", "key", "value"), TIGHTENING, ids=[one[1] for one in TIGHTENING])
def test_a_project_tightens(place: Place, text: str, key: str, value: object) -> None:
    place.user.write_text('[network]\nallow = ["*.example.com"]\n')
    (place.project / "wardian.toml").write_text(text + "\n")
    found = place.show()[key]
    shown = {str(one) for one in value} if isinstance(value, list) else {str(value)}
    got = found["value"]
    assert {str(one) for one in got} == shown if isinstance(got, list) else str(got) in shown
    assert found["source"].startswith(f"{place.project}/wardian.toml:2")
    (place.project / "wardian.toml").unlink()
    table = "\n".join(
        line.replace("[", "[tool.wardian.", 1) if line.startswith("[") else line
        for line in text.splitlines()
    )
    (place.project / "pyproject.toml").write_text(f'[project]\nname = "x"\n{table}\n')
    found = place.show()[key]
    assert found["source"] == f"{place.project}/pyproject.toml:4"


def test_syscalls_only_tightens_too(place: Place) -> None:
    (place.project / "wardian.toml").write_text('[syscalls]\nonly = ["read", "write"]\n')
    found = place.show()["syscalls.only"]
    assert {"read", "write"} <= set(found["value"])
    assert "mkdir" not in found["value"]
    assert found["source"] == f"{place.project}/wardian.toml:2"


def test_a_tightened_limit_holds_in_a_run(place: Place) -> None:
    (place.project / "wardian.toml").write_text('[limits]\ntime = "300ms"\n')
    below = place.project / "deep" / "down"
    below.mkdir(parents=True)
    for cwd in (place.project, below):
        place("exec", "--", "sleep", "20", code=124, cwd=cwd)
    place("exec", "--time", "20s", "--", "sleep", "0.5")


def test_each_directory_on_the_way_tightens_and_none_hides_another(place: Place) -> None:
    below = place.project / "below"
    below.mkdir()
    (place.project / "wardian.toml").write_text('[limits]\ntime = "2m"\nmemory = "1G"\n')
    (below / "wardian.toml").write_text('[limits]\ntime = "1m"\n')
    found = json.loads(place("config", "show", "--json", cwd=below).stdout)["settings"]
    assert (found["limits.time"]["value"], found["limits.memory"]["value"]) == ("1m", "1G")
    (below / "wardian.toml").write_text('[limits]\ntime = "3m"\n')
    done = place("config", "show", code=125, cwd=below)
    assert "expected at most 2m" in done.stderr


def test_a_pyproject_without_the_table_is_nothing(place: Place) -> None:
    for text in ('[project]\nname = "wardian-user"\n', "[tool.ruff]\n", "not = toml = wardian\n"):
        (place.project / "pyproject.toml").write_text(text)
        assert place("exec", "--", "true").stderr == ""


@pytest.mark.parametrize(
    "text",
    [
        '[tool.wardian.limits]\ntime = "1m"\n',
        '[tool.wardian]\nlimits = {time = "1m"}\n',
        '[tool]\nwardian.limits.time = "1m"\n',
        '[ tool . "wardian" . limits ]\ntime = "1m"\n',
        'tool = {wardian = {limits = {time = "1m"}}}\n',
        'tool.wardian.limits.time = "1m"\n',
        '["t\\u006fol"."wardian"]\nlimits.time = "1m"\n',
    ],
)
def test_the_table_is_found_however_it_is_written(place: Place, text: str) -> None:
    (place.project / "pyproject.toml").write_text(f'name = "wardian"\n{text}')
    assert place.show()["limits.time"]["value"] == "1m"
