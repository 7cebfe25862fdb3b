"""Learned policies: smaller than the default in every dimension, and proven by real runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.skill_folders import MakeSkill
from wardian import Policy
from wardian.learn.data import learning
from wardian.learn.limits import limits
from wardian.learn.needs import NOTHING, at_once, merged
from wardian.learn.places import is_wide, places, whole
from wardian.observe.trace import ExecutedProgram, TracedProcess
from wardian.runner.cases.model import SkillCase
from wardian.runner.cases.reading import read_cases
from wardian.runner.cases.running import Options, run_case
from wardian.runner.location import located
from wardian.sandbox.policy.difference import NOUNS
from wardian.sandbox.policy.policy import Limits
from wardian.syscalls import lookup

from .conftest import Wardian

pytestmark = pytest.mark.long

SKILLS = Path(__file__).parents[2] / "skills"
NAMES = sorted(path.name for path in SKILLS.iterdir() if (path / "SKILL.md").exists())
# Needs Pillow, which is fetched from the package index.
FETCHES = {"image-contact-sheet"}
TRIES = 8  # a case that gives itself a second may need more than one, where much else runs


def learned(wardian: Wardian, *args: object, **more: Any) -> dict[str, Any]:
    done = wardian("learn", "--json", *args, timeout=300, **more)
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# The skills that come along


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_skill_gets_a_policy_that_is_smaller_in_every_dimension_and_passes_its_cases(
    name: str, wardian: Wardian, tmp_path: Path
) -> None:
    if name in FETCHES and "WARDIAN_TEST_INDEX" not in os.environ:
        pytest.skip("WARDIAN_TEST_INDEX is not set: packages may not be fetched")
    target = tmp_path / "learned.toml"
    done = wardian("learn", "--json", SKILLS / name, "-o", target, timeout=300)
    absent = re.search(r"\S+ not installed", done.stderr.decode())
    if done.returncode and absent:
        pytest.skip(absent.group())
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    cases = read_cases(str(SKILLS / name / "cases.toml"))
    skipped = [one["name"] for one in found["left_out"]]
    if len(skipped) == len(cases):
        pytest.skip(found["left_out"][0]["why"])
    assert sorted(found["proven"] + skipped) == sorted(case.name for case in cases)
    assert all(one["why"].endswith("not installed") for one in found["left_out"])
    less = {(one["dimension"], one["subject"]) for one in found["differences"]}
    assert [one for one in found["differences"] if one["more"] != "a"] == []
    assert {one for one, _ in less} >= {"files", "syscalls", "environment", "limits"}
    assert {field for dimension, field in less if dimension == "limits"} == set(NOUNS)
    assert ("files", "/usr") in less
    assert len(found["places"]) <= learning().most
    assert found["syscalls"]["allowed"] < found["syscalls"]["before"] / 2
    policy = Policy.from_toml(target)
    assert policy.digest == found["digest"]
    for case in cases:
        assert case.name in skipped or passes(SKILLS / name, case, policy) == []


def passes(skill: Path, case: SkillCase, policy: Policy) -> list[str]:
    """The problems of the last try, judged by `wardian test`'s own code rather than by learn's."""
    problems: list[str] = []
    with located(str(skill)) as there:
        for _ in range(TRIES):
            (outcome,) = run_case(there, case, Options(narrower=policy))
            problems = list(outcome.problems)
            if not problems:
                break
    return problems


# Attacks, merging, proof

HONEST = "import json, sys\nprint(json.dumps({'a': [1, 2]}))\n"
ATTACKS = {
    "socket": "import socket\nsocket.socket()\n",
    "thread": "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n",
    "child": "import os\npid = os.fork()\nif not pid:\n    os._exit(0)\nos.waitpid(pid, 0)\n",
    "program": "import os\nassert os.access('/usr/bin/env', os.X_OK)\n",
    "listing": "import os\nassert len(os.listdir('/usr/bin')) > 50\n",
    "files": "for i in range(300):\n    globals()[f'f{i}'] = open('/dev/null')\n",
    "memory": "x = bytearray(600 << 20)\n",
    "memfd": "import os\nos.memfd_create('x')\n",
    "rename": "import os\nopen('a', 'w').close()\nos.rename('a', 'b')\n",
}


@pytest.fixture
def honest(make_skill: MakeSkill) -> Path:
    scripts = {f"scripts/try_{name}.py": text for name, text in ATTACKS.items()}
    return make_skill({"scripts/honest.py": HONEST, **scripts})


def test_what_the_honest_script_never_did_fails_under_its_policy_though_the_default_allows_it(
    honest: Path, wardian: Wardian, tmp_path: Path
) -> None:
    target = tmp_path / "honest.toml"
    learned(wardian, honest, "honest.py", "-o", target)
    same = wardian("run", honest, "honest.py", "--policy", target)
    assert (same.returncode, same.stdout) == (0, b'{"a": [1, 2]}\n')
    for name in ATTACKS:
        script = f"try_{name}.py"
        assert wardian("run", honest, script, stdout=subprocess.DEVNULL).returncode == 0, name
        done = wardian("run", honest, script, "--policy", target, stdout=subprocess.DEVNULL)
        assert done.returncode != 0, name


def test_two_scripts_learned_from_together_are_both_served(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({
        "scripts/one.sh": "printf 'b\\na\\n' | sort\n",
        "scripts/two.py": "import socket\nsocket.socketpair()\nprint('two')\n",
    })  # fmt: skip
    both, first = tmp_path / "both.toml", tmp_path / "first.toml"
    assert learned(wardian, skill, "one.sh", "two.py", "-o", both)["proven"] == [
        "scripts/one.sh",
        "scripts/two.py",
    ]
    learned(wardian, skill, "one.sh", "-o", first)
    assert wardian("run", skill, "one.sh", "--policy", both).stdout == b"a\nb\n"
    assert wardian("run", skill, "two.py", "--policy", both).stdout == b"two\n"
    assert wardian("run", skill, "one.sh", "--policy", first).stdout == b"a\nb\n"
    assert wardian("run", skill, "two.py", "--policy", first).returncode != 0


def test_a_run_that_does_not_do_the_same_each_time_is_learned_from_several(
    wardian: Wardian, tmp_path: Path
) -> None:
    work, target = tmp_path / "work", tmp_path / "turns.toml"
    work.mkdir()
    turns = "if [ -e turn ]; then rm turn; ls /usr/bin/head; else touch turn; sort /dev/null; fi"
    # Twice, and so both ways.
    learned(wardian, "--runs", 2, "--work", work, "-o", target, "--", "sh", "-c", turns)
    policy = Policy.from_toml(target)
    assert policy.work is None
    assert 'work = "caller"' in target.read_text()
    assert {"/usr/bin/rm", "/usr/bin/touch", "/usr/bin/sort"} <= set(policy.base or ())


def test_a_run_that_fails_is_not_learned_from_unless_it_is_meant_to(
    wardian: Wardian, tmp_path: Path
) -> None:
    target = tmp_path / "fails.toml"
    done = wardian("learn", "-o", target, "--", "sh", "-c", "echo sorry >&2; exit 3")
    assert done.returncode == 1
    assert b"not learned from sh -c" in done.stderr
    assert b"exit code 3, not 0" in done.stderr
    assert b"sorry" in done.stderr
    assert not target.exists()
    learned(wardian, "--exit", 3, "-o", target, "--", "sh", "-c", "echo sorry >&2; exit 3")
    assert wardian("exec", "--policy", target, "--", "sh", "-c", "exit 3").returncode == 3


def test_what_could_not_be_proven_is_not_written_and_leaves_what_was_there(
    wardian: Wardian, tmp_path: Path
) -> None:
    work, target = tmp_path / "work", tmp_path / "once.toml"
    work.mkdir()
    target.write_text("# as it was\n")
    done = wardian(
        "learn", "--work", work, "-o", target, "--", "sh", "-c", "test ! -e done && touch done"
    )
    assert done.returncode == 1
    assert b"no policy was found under which" in done.stderr
    assert target.read_text() == "# as it was\n"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_what_can_not_be_seen_is_found_by_proof_and_no_more_of_it_than_needed(
    wardian: Wardian, tmp_path: Path
) -> None:
    target = tmp_path / "lists.toml"
    found = learned(wardian, "--runs", 2, "-o", target, "--", "ls", "/usr/bin")
    assert found["rounds"] > 1
    policy = Policy.from_toml(target)
    assert "/usr/bin" in (policy.base or ())
    assert len(policy.base or ()) < 16  # the libraries of ls, not of all that is listed
    assert policy.pass_env == ()
    assert policy.limits.processes is not None
    assert policy.limits.processes == learning().rooms["processes"].least


def test_shares_that_were_not_used_are_left_out_and_those_only_read_are_read_only(
    wardian: Wardian, tmp_path: Path
) -> None:
    for name in ("used", "unused", "only-read"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("text")
    target = tmp_path / "shares.toml"
    options = ["--write", tmp_path / "used", "--write", tmp_path / "only-read"]
    options += ["--read", tmp_path / "unused", "--env", "TOKEN", "--env", "MODE=fast"]
    text = f"cat {tmp_path}/only-read/file > {tmp_path}/used/copy"
    learned(wardian, *options, "-o", target, "--", "sh", "-c", text, env={"TOKEN": "such a secret"})
    policy = Policy.from_toml(target)
    assert {(share.path, share.write) for share in policy.shares} == {
        (str(tmp_path / "used"), True),
        (str(tmp_path / "only-read"), False),
    }
    assert policy.pass_env == ("TOKEN",)
    assert policy.set_env == (("MODE", "fast"),)
    assert "such a secret" not in target.read_text()


def test_the_network_is_given_only_to_what_used_it(wardian: Wardian, tmp_path: Path) -> None:
    target = tmp_path / "quiet.toml"
    learned(wardian, "--net", "host", "-o", target, "--", "echo", "hi")
    assert Policy.from_toml(target).network == "none"


def test_without_a_file_the_policy_is_printed_and_can_be_read(
    wardian: Wardian, tmp_path: Path
) -> None:
    done = wardian("learn", "--", "echo", "hi")
    assert done.returncode == 0
    target = tmp_path / "printed.toml"
    target.write_bytes(done.stdout)
    assert wardian("exec", "--policy", target, "--", "echo", "hi").stdout == b"hi\n"
    reported = done.stderr.decode()
    assert "1 run passed under it" in reported
    assert "instead of all of /usr" in reported
    assert b"# Proven: 1 run passed under it" in done.stdout


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ([], 2, "no skill or command given"),
        (["--runs", "0", "--", "true"], 2, "--runs: '0' is not a number from 1"),
        (["-o", "policy.txt", "--", "true"], 2, "must end in .toml"),
        (["-o", "/nowhere/p.toml", "--", "true"], 2, "is not a writable file"),
        (["--case", "x", "--", "true"], 2, "--case applies to a skill"),
        (["--input", "/nowhere", "--", "true"], 2, "--input /nowhere"),
        (["--backend", "host", "--", "true"], 2, "unknown option --backend"),
        ([SKILLS / "csv-report", "--case", "no such"], 3, "no case for csv-report matches"),
        ([SKILLS / "csv-report", "--", "arg"], 2, "arguments given, but no script"),
        ([SKILLS / "csv-report", "--exit", "1"], 2, "each case sets its own"),
    ],
)
def test_a_wrong_call_is_reported(
    args: list[object], code: int, said: str, wardian: Wardian
) -> None:
    done = wardian("learn", *args)
    assert done.returncode == code
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


# The parts


def test_every_call_that_is_named_exists() -> None:
    for name in (*learning().kept_calls, *(one for line in learning().alike for one in line)):
        lookup(name)


def test_a_directory_is_named_rather_than_its_many_files_and_never_a_wide_one() -> None:
    folder = Path(whole().real("/usr/share") or "") / "doc"
    used = {str(path): frozenset(("read",)) for path in sorted(folder.rglob("copyright"))[:400]}
    if len(used) < 2:
        pytest.skip("not installed: documentation of packages")
    found = [place.path for place in places(used, ()) if not place.why.startswith("needed by")]
    assert str(folder) in found
    assert len(found) <= 2
    assert not any(is_wide(path) for path in found)


def test_single_files_of_wide_directories_are_few_enough() -> None:
    programs = sorted(path for path in Path("/usr/bin").iterdir() if not path.is_symlink())[:300]
    used = {str(path): frozenset(("executed",)) for path in programs}
    assert len(places(used, ())) <= learning().most


def test_what_is_no_part_of_the_base_is_never_in_it() -> None:
    used = dict.fromkeys(
        ("/etc/shadow", "/root/x", "/proc/self/exe", "/work/y"), frozenset(("read",))
    )
    kept = [path for path in learning().kept_places if os.path.exists(path)]
    assert [place.path for place in places(used, ())] == kept
    used["/usr/bin/env"] = frozenset(("executed",))
    assert "/usr/bin/env" in [place.path for place in places(used, ())]


def test_limits_have_head_room_and_are_never_above_what_was_allowed() -> None:
    allowed = Policy.default().limits
    high = limits(dict.fromkeys(Limits._fields, 1 << 50), allowed)
    assert all(one <= most for one, most in zip(high, allowed, strict=True) if one and most)
    low = limits({"memory_bytes": 50 << 20}, allowed)
    assert low.memory_bytes == 512 << 20
    assert low.time_s == 60
    assert limits({"memory_bytes": 1 << 30}, Limits()).memory_bytes == 4 << 30


def test_processes_that_end_before_others_start_are_not_counted_together() -> None:
    def process(started: float, ended: float | None, threads: int = 1) -> TracedProcess:
        program = (ExecutedProgram(started, ("x",)),)
        return TracedProcess(1, None, 1, 1, started, program, ended, 0, threads)

    assert at_once([process(0, 9), process(1, 2), process(3, 4, 3)]) == 4
    assert at_once([process(0, None), process(1, None)]) == 2


def test_the_directory_is_the_callers_and_the_next_input_is_served(
    wardian: Wardian, tmp_path: Path
) -> None:
    work, other = tmp_path / "small", tmp_path / "large"
    for place, lines in ((work, 20), (other, 200_000)):
        place.mkdir()
        (place / f"{lines}.txt").write_text("".join(f"{n % 977}\n" for n in range(lines)))
    target = tmp_path / "sort.toml"
    learned(wardian, "-o", target, "--work", work, "--", "sort", "-n", "20.txt")
    assert 'work = "caller"' in target.read_text()
    assert str(work) not in target.read_text().partition("[files]")[2]
    given = ("exec", "--policy", target, "--work", other, "--")
    done = wardian(*given, "sort", "-n", "-o", "out", "200000.txt")
    assert done.returncode == 0, done.stderr.decode()
    assert (other / "out").read_text().splitlines()[-1] == "976"


def test_needs_are_merged() -> None:
    one = NOTHING._replace(files={"/a": frozenset(("read",))}, peaks={"time_s": 2.0})
    other = NOTHING._replace(files={"/a": frozenset(("written",))}, peaks={"time_s": 1.0})
    both = merged([one, other])
    assert both.files == {"/a": frozenset(("read", "written"))}
    assert both.peaks == {"time_s": 2.0}
