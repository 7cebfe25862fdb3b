"""``wardian run``, as people call it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command import Wardian
from tests.skill_folders import MakeSkill

from .conftest import needs

LANGUAGES = {
    "python3": ("a.py", "import sys; print('hello', *sys.argv[1:])"),
    "sh": ("a.sh", 'echo hello "$@"'),
    "bash": ("a.bash", 'a=(hello "$@"); echo "${a[@]}"'),
    "zsh": ("a.zsh", 'print hello "$@"'),
    "node": ("a.mjs", "console.log('hello', ...process.argv.slice(2))"),
    "ruby": ("a.rb", "puts (['hello'] + ARGV).join(' ')"),
    "perl": ("a.pl", "print join(' ', 'hello', @ARGV), \"\\n\""),
    "Rscript": ("a.R", "cat('hello', commandArgs(TRUE), '\\n')"),
}


@pytest.mark.parametrize("program", LANGUAGES)
def test_each_language_runs(program: str, make_skill: MakeSkill, wardian: Wardian) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    name, text = LANGUAGES[program]
    done = wardian("run", make_skill({f"scripts/{name}": text}), name, "--", "to", "you")
    assert (done.stdout.strip(), done.returncode) == ("hello to you", 0), done.stderr


@needs("cc")
def test_a_compiled_program_runs(make_skill: MakeSkill, wardian: Wardian) -> None:
    skill = make_skill(
        {"src/a.c": '#include <stdio.h>\nint main(void) { puts("compiled"); return 3; }'}
    )
    (skill / "bin").mkdir()
    subprocess.run(["cc", "-o", skill / "bin/tool", skill / "src/a.c"], check=True)
    done = wardian("run", skill, "bin/tool")
    assert (done.stdout, done.returncode) == ("compiled\n", 3), done.stderr


def test_an_execute_bit_without_a_shebang_goes_by_the_extension(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": "import os\nprint(os.sep)\n"})
    (skill / "scripts/a.py").chmod(0o755)
    assert wardian("run", skill, "a.py").stdout == "/\n"


def test_the_surroundings_of_a_script(make_skill: MakeSkill, wardian: Wardian) -> None:
    script = """
import os, sys
print(os.getcwd(), os.environ["SKILL_DIR"], __file__)
from scripts import other
print(os.path.exists("/skill/scripts/__pycache__"), "HOST_SECRET" in os.environ)
"""
    skill = make_skill({"scripts/a.py": script, "scripts/other.py": ""})
    done = wardian("run", skill, "a.py", env={"HOST_SECRET": "x"})
    lines = done.stdout.splitlines()
    assert lines == ["/work /skill /skill/scripts/a.py", "False False"], done


def test_a_module_runs_as_python_does_it(make_skill: MakeSkill, wardian: Wardian) -> None:
    skill = make_skill(
        {
            "scripts/__init__.py": "",
            "scripts/a.py": "from .b import X; print(X)",
            "scripts/b.py": "X = 5",
        }
    )
    assert wardian("run", skill, "scripts.a").stdout == "5\n"


def test_options_stand_anywhere_before_the_arguments(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": "import os, sys; print(os.environ['A'], sys.argv[1:])"})
    for words in (
        ("--env", "A=1", skill, "a.py", "--", "-x", "--env"),
        (skill, "--env", "A=1", "a.py", "--", "-x", "--env"),
        (skill, "a.py", "--env=A=1", "--", "-x", "--env"),
    ):
        assert wardian("run", *words).stdout == "1 ['-x', '--env']\n"


def test_without_a_script_they_are_listed(make_skill: MakeSkill, wardian: Wardian) -> None:
    skill = make_skill({"scripts/a.py": "", "core/b.sh": "echo", "data.txt": "x"})
    done = wardian("run", skill)
    assert done.stdout.split() == ["sh", "core/b.sh", "python", "scripts/a.py"]
    document = json.loads(wardian("run", skill, "--json").stdout)
    assert [one["path"] for one in document["scripts"]] == ["core/b.sh", "scripts/a.py"]


def test_what_was_written_is_told_and_kept_when_asked(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.sh": "mkdir d; echo hello > d/made.txt; ln -s /etc/passwd leak"})
    done = wardian("run", skill, "a.sh")
    assert "wrote 2 files" in done.stderr
    assert "--out DIR" in done.stderr
    out = tmp_path / "kept"
    done = wardian("run", skill, "a.sh", "--out", out)
    assert (out / "d/made.txt").read_text() == "hello\n"
    assert "left out: leak" in done.stderr
    assert not (out / "leak").is_symlink()
    assert "is not empty" in wardian("run", skill, "a.sh", "--out", out).stderr
    assert wardian("run", skill, "a.sh", "--out", out, "--force").returncode == 0


def test_a_work_directory_is_the_callers_own(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    work = tmp_path / "mine"
    work.mkdir()
    (work / "in.txt").write_text("abc")
    skill = make_skill({"scripts/a.sh": "tr a-z A-Z < in.txt > out.txt"})
    done = wardian("run", skill, "a.sh", "--work", work)
    assert (work / "out.txt").read_text() == "ABC"
    assert done.stderr == ""


def test_state_lasts_and_is_the_skills_own(make_skill: MakeSkill, wardian: Wardian) -> None:
    count = 'n=$(cat "$STATE_DIR/n" 2>/dev/null || echo 0); echo $((n + 1)) | tee "$STATE_DIR/n"'
    one, other = make_skill({"scripts/a.sh": count}), make_skill({"scripts/a.sh": count}, "other")
    printed = [wardian("run", one, "a.sh", "--state", name).stdout for name in ("x", "x", "y", "x")]
    assert printed == ["1\n", "2\n", "1\n", "3\n"]
    assert wardian("run", other, "a.sh", "--state", "x").stdout == "1\n"
    for name in ("../x", "", "a/b", ".hidden", "-x"):
        assert wardian("run", one, "a.sh", f"--state={name}").returncode == 125


def test_an_archive_runs_and_leaves_nothing(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.py": "print('from an archive')"})
    packed = tmp_path / "demo.skill"
    assert wardian("pack", skill, "-o", packed).returncode == 0
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = wardian("run", packed, "a.py", env={"TMPDIR": str(temporary)})
    assert done.stdout == "from an archive\n", done.stderr
    assert os.listdir(temporary) == []


def test_a_skill_is_found_by_its_name(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.py": "print('found')"})
    place = tmp_path / "here/.agents/skills"
    place.mkdir(parents=True)
    shutil.copytree(skill, place / "demo")
    assert wardian("run", "demo", "a.py").stdout == "found\n"
    done = wardian("run", "demos", "a.py")
    assert done.returncode == 125
    assert "did you mean demo?" in done.stderr


def test_what_is_no_skill_is_refused(wardian: Wardian, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for given in (tmp_path / "empty", tmp_path / "nowhere", "/dev/null"):
        done = wardian("run", given, "a.py")
        assert done.returncode == 125
        assert done.stderr.startswith("error: ")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_the_scripts_exit_code_is_ours(code: int, make_skill: MakeSkill, wardian: Wardian) -> None:
    assert wardian("run", make_skill({"scripts/a.sh": f"exit {code}"}), "a.sh").returncode == code


def test_a_time_limit_is_124_and_a_missing_interpreter_127(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.sh": "sleep 60", "scripts/b.rb": "puts 1"})
    assert wardian("run", skill, "a.sh", "--time", "300ms").returncode == 124
    done = wardian("run", skill, "b.rb", env={"PATH": str(tmp_path)})
    assert done.returncode == 127
    assert "ruby is not installed" in done.stderr
    assert "hint: install it" in done.stderr
    assert (
        json.loads(wardian("run", skill, "b.rb", "--json", env={"PATH": str(tmp_path)}).stdout)[
            "exit_code"
        ]
        == 127
    )


def test_a_wish_for_a_version_that_is_not_here_is_told(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    done = wardian("run", make_skill({"scripts/a.py": "#!/usr/bin/env python3.99\n"}), "a.py")
    assert done.returncode == 127
    assert "no Python here is 3.99" in done.stderr


def test_the_document_tells_skill_script_and_files(make_skill: MakeSkill, wardian: Wardian) -> None:
    skill = make_skill({"scripts/a.sh": "echo out; echo err >&2; echo x > made"})
    document = json.loads(wardian("run", skill, "a.sh", "--json").stdout)
    assert document["stdout"] == "out\n"
    assert document["skill"] == {"name": "demo", "path": str(skill)}
    assert document["script"] == "scripts/a.sh"
    assert document["files"] == [{"path": "made", "bytes": 2}]


def test_a_poisoned_skill_as_working_directory_is_not_imported(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    bad = "import os; os.write(2, b'poisoned'); os._exit(99)"
    names = ("re", "os", "json", "click", "wardian", "typing", "sitecustomize", "hashlib")
    skill = make_skill({**{f"{name}.py": bad for name in names}, "scripts/a.sh": "echo fine"})
    done = wardian("run", ".", "a.sh", cwd=skill)
    assert (done.stdout, done.returncode) == ("fine\n", 0), done.stderr


def test_missing_packages_are_suggested_after_a_failure(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill({"scripts/a.py": "import yaml_not_there_at_all\n"})
    done = wardian("run", skill, "a.py")
    assert done.returncode == 1
    assert "--with" in done.stderr


def test_a_network_is_not_there(make_skill: MakeSkill, wardian: Wardian) -> None:
    script = """
import socket
server = socket.create_server(("127.0.0.1", 0)); print("own loopback")
try:
    socket.create_connection(("203.0.113.1", 80), timeout=3)
except OSError as error:
    print(error.strerror)
"""
    done = wardian("run", make_skill({"scripts/a.py": script}), "a.py")
    assert done.stdout.splitlines() == ["own loopback", "Network is unreachable"]


def test_a_backend_without_walls_runs_the_same_script(
    make_skill: MakeSkill, wardian: Wardian
) -> None:
    skill = make_skill(
        {"scripts/a.py": "import os; print(os.environ['SKILL_DIR']); open('x', 'w')"}
    )
    done = wardian("run", skill, "a.py", "--backend", "host")
    assert done.stdout == f"{skill}\n"
    assert list(skill.glob("**/x")) == []


def test_an_interrupt_reaches_the_script_and_nothing_stays(
    make_skill: MakeSkill, environment: dict[str, str], tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    skill = make_skill(
        {"scripts/a.sh": "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.1; done"}
    )
    with subprocess.Popen(
        [sys.executable, "-m", "wardian", "run", str(skill), "a.sh"],
        env=environment | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == b"bye\n"
        assert process.wait(20) == 5
    deadline = time.monotonic() + 5
    while os.listdir(temporary) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert os.listdir(temporary) == []


def test_a_file_that_was_left_behind_is_pointed_out(
    make_skill: MakeSkill, wardian: Wardian, tmp_path: Path
) -> None:
    skill = make_skill({"scripts/a.py": "import sys\nopen(sys.argv[1])\n"})
    here = tmp_path / "elsewhere"
    here.mkdir()
    (here / "data.json").write_text("{}")
    hint = "data.json is in this directory, which is not shared with the run"
    failed = wardian("run", skill, "a.py", "--", "data.json", cwd=here)
    assert failed.returncode != 0
    assert hint in failed.stderr
    fine = wardian("run", skill, "a.py", "--work", ".", "--", "data.json", cwd=here)
    assert fine.returncode == 0
    assert hint not in fine.stderr
