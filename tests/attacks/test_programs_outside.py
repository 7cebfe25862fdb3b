"""What a guest leaves in a project, as a program, an environment or a module, is neither started
outside nor decides what a later run is shown."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from wardian import Policy, Sandbox
from wardian.errors import ShareError
from wardian.sandbox.root import programs
from wardian.sandbox.root.programs import find_program, on_path, outside

from .test_links_left_behind import SECRET, Scene

LEFT = '#!/bin/sh\necho {name} >> {mark}\nexec /usr/bin/{name} "$@"\n'
NAMES = ("python", "python3", "uv", "npm", "node", "git", "cc", "bwrap", "runsc", "cat", "sh",
         "bash", "xdg-open", "env", "setpriv")  # fmt: skip


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(programs, "_skipped", {})
    return Scene(tmp_path)


def leave_programs(scene: Scene, folder: str) -> Path:
    """A guest puts programs into a directory of the project; each notes where it is started."""
    mark = scene.top / "started-outside"
    texts = [LEFT.format(name=name, mark=mark) for name in NAMES]
    made = [
        f"cat > {folder}/{name} <<'END'\n{text}END\n"
        for name, text in zip(NAMES, texts, strict=True)
    ]
    scene.guest("\n".join((f"mkdir -p {folder}", *made, f"chmod +x {folder}/*")))
    return mark


@pytest.mark.parametrize(
    "command",
    [
        ("exec", "--", "python3", "-c", "print(1)"),
        ("exec", "--backend", "bubblewrap", "--degrade", "landlock", "--", "true"),
        ("run", "skill", "a.sh"),
        ("run", "skill", "b.py"),
        ("run", "skill", "c.ts"),
        ("doctor",),
        ("check", "skill"),
        ("test", "skill"),
        ("pack", "skill", "-o", "packed.skill"),
        ("probe", "core__filesystem__tmp_write", "--in", "wardian,host"),
        ("syscalls", "--json"),
        ("learn", "--", "true"),
        ("trace", "exec", "--", "true"),
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_no_command_starts_what_a_guest_left_on_the_path(
    scene: Scene, command: tuple[str, ...]
) -> None:
    (scene.top / "skill/scripts/b.py").write_text("print(1)\n")
    (scene.top / "skill/scripts/c.ts").write_text("console.log(1)\n")
    (scene.top / "skill/cases.toml").write_text('[[case]]\nscript = "a.sh"\n')
    mark = leave_programs(scene, ".venv/bin")
    path = f"{scene.project}/.venv/bin:{scene.top}/through/bin:{os.environ['PATH']}"
    (scene.top / "through").symlink_to(scene.project / ".venv")
    done = scene.wardian(*command, PATH=path)
    assert "Traceback" not in done.stderr, done.stderr
    assert not mark.exists(), mark.read_text()


def test_a_skipped_entry_of_the_path_is_named(scene: Scene) -> None:
    leave_programs(scene, "bin")
    path = f"{scene.project}/bin:/usr/bin:/bin"
    done = scene.wardian(
        "exec", "--", "python3", "-c", "import sys; print(sys.executable)", PATH=path
    )
    assert done.stdout == "/usr/bin/python3\n", done.stderr
    assert f"PATH: {scene.project}/bin was skipped" in done.stderr
    assert "shared for writing" in done.stderr
    # With -q it is not; and nothing is skipped that the run itself shows.
    assert "PATH" not in scene.wardian("exec", "-q", "--", "python3", "-V", PATH=path).stderr
    shown = scene.wardian("exec", "--work", "project", "--", "git", "--version", PATH=path)
    assert "PATH" not in shown.stderr


def test_entries_that_are_relative_or_empty_or_lead_there_do_not_count(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_programs(scene, "bin")
    (scene.top / "away").symlink_to(scene.project / "bin")
    (scene.top / "lone").mkdir()
    (scene.top / "lone/uv").symlink_to(scene.project / "bin/uv")
    monkeypatch.chdir(scene.project / "bin")
    entries = ["", ".", "../bin", f"{scene.project}/bin", f"{scene.top}/away", f"{scene.top}/lone"]
    for find in (on_path, outside):
        assert find("uv", {"PATH": ":".join(entries)}) is None
        assert find("sh", {"PATH": ":".join([*entries, "/bin"])}) == "/bin/sh"
    mine = scene.top / "mine"
    mine.mkdir()
    (mine / "uv").write_text("#!/bin/sh\n")
    (mine / "uv").chmod(0o755)
    assert on_path("uv", {"PATH": f"{entries[3]}:{mine}"}) == f"{mine}/uv"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_outside_only_what_root_alone_could_write_is_started(scene: Scene) -> None:
    folder = scene.top / "bin"
    folder.mkdir()
    (folder / "tool").write_text("#!/bin/sh\n")
    (folder / "tool").chmod(0o755)
    env = {"PATH": str(folder)}
    assert outside("tool", env) == str(folder / "tool")
    for path, mode, owner in ((folder / "tool", 0o777, 0), (folder, 0o777, 0), (folder, 0o755, 9)):
        path.chmod(mode)
        os.chown(path, owner, owner)
        assert outside("tool", env) is None
        path.chmod(0o755)
        os.chown(path, 0, 0)
    assert on_path("tool", env) == str(folder / "tool")


# Environments


def make_venv(scene: Scene, base: str = "") -> Path:
    place = scene.project / ".venv"
    command = [base or os.path.realpath(sys.executable), "-m", "venv", "--without-pip", place]
    subprocess.run(command, check=True)
    return place


CAN_READ = "import sys; print(open('{}').read())"


def test_pyvenv_cfg_does_not_open_a_directory(scene: Scene) -> None:
    """A guest, or a wheel, rewrites it: the next start of that Python shows no more than before."""
    python = make_venv(scene) / "bin/python"
    code = CAN_READ.format(scene.private / "secret")
    (scene.private / "bin").mkdir()
    for attempt in (
        f"sed -i 's|^home = .*|home = {scene.private}/bin|' .venv/pyvenv.cfg",
        f"echo 'home = {scene.top}/home/bin' >> .venv/pyvenv.cfg",
        "rm .venv/pyvenv.cfg; ln -s ../../private/cfg .venv/pyvenv.cfg",
    ):
        scene.guest(attempt)
        for words in ((str(python),), ("--work", "project", "--", "/work/.venv/bin/python")):
            done = scene.wardian("exec", *(() if len(words) > 1 else ("--",)), *words, "-c", code)
            assert SECRET not in done.stdout, attempt
            assert done.returncode != 0


def test_the_same_by_the_python_interface(scene: Scene) -> None:
    python = make_venv(scene) / "bin/python"
    scene.guest(f"sed -i 's|^home = .*|home = {scene.private}/bin|' .venv/pyvenv.cfg")
    with Sandbox(Policy.default()) as sandbox:
        result = sandbox.run([str(python), "-c", CAN_READ.format(scene.private / "secret")])
    assert SECRET not in result.text
    for source in find_program(str(python), os.environ).sources:
        assert not str(scene.private).startswith(source.path)


def leads(scene: Scene) -> dict[str, str]:
    """Targets that look like an installation, and are none that is known."""
    fake = scene.private
    (fake / "bin").mkdir(exist_ok=True)
    shutil.copy("/bin/sh", fake / "bin/python")
    (fake / "lib/python3.11").mkdir(parents=True, exist_ok=True)
    (fake / "lib/python3.11/os.py").write_text("")
    (fake / "pyvenv.cfg").write_text("")
    return {"link": f"ln -sfn {fake}/bin/python .venv/bin/python",
            "folder": f"rm -rf .venv && ln -s {fake} .venv",
            "bin": f"rm -rf .venv/bin && ln -s {fake}/bin .venv/bin"}  # fmt: skip


@pytest.mark.parametrize("kind", ["link", "folder", "bin"])
def test_a_link_in_a_venv_leads_to_no_unknown_prefix(scene: Scene, kind: str) -> None:
    make_venv(scene)
    scene.guest(leads(scene)[kind])
    python = f"{scene.project}/.venv/bin/python"
    done = scene.wardian("exec", "--", python, "-c", f"cat {scene.private}/secret")
    assert SECRET not in done.stdout
    assert done.returncode == 125, done.stderr
    assert "link" in done.stderr
    assert "hint:" in done.stderr
    path = f"{scene.project}/.venv/bin:/usr/bin:/bin"
    done = scene.wardian("exec", "--", "python", "-c", f"cat {scene.private}/secret", PATH=path)
    assert SECRET not in done.stdout
    with pytest.raises(ShareError):
        find_program(python, os.environ)


def test_a_venv_that_was_shared_still_runs_on_an_installation_that_is_known(scene: Scene) -> None:
    """The neighbouring act: nothing was changed in it, so it works as it did."""
    python = make_venv(scene) / "bin/python"
    code = "import sys; print(sys.prefix)"
    before = scene.wardian("exec", "--", str(python), "-c", code)
    assert before.stdout == f"{scene.project}/.venv\n", before.stderr
    scene.guest("touch .venv/lib/touched")
    after = scene.wardian("exec", "--", str(python), "-c", code)
    assert after.stdout == before.stdout, after.stderr
    path = f"{scene.project}/.venv/bin:/usr/bin:/bin"
    active = scene.wardian("exec", "--work", "project", "--", "python", "-c", code, PATH=path)
    assert active.stdout == "/work/.venv\n", active.stderr


@pytest.mark.parametrize("part", ["etc", "share", "ssl", "libexec"])
def test_a_link_that_a_clone_brings_is_no_part_of_an_environment(scene: Scene, part: str) -> None:
    """The project is its own environment, and no guest has ever written to it."""
    clone = scene.top / "clone"
    clone.mkdir()
    (clone / part).symlink_to("../private")
    venv.create(clone, with_pip=False)
    line = f"command -v python3; cat {clone}/{part}/secret {scene.private}/secret"
    path = f"{clone}/bin:/usr/bin:/bin"
    done = scene.wardian("exec", "--", "sh", "-c", line, PATH=path)
    assert done.stdout == f"{clone}/bin/python3\n", done.stderr
    code = CAN_READ.format(clone / part / "secret")
    done = scene.wardian("exec", "--", f"{clone}/bin/python3", "-c", code)
    assert SECRET not in done.stdout


@pytest.mark.parametrize("mark", ["lib/node_modules", "lib/ruby"])
def test_a_mark_that_a_guest_made_does_not_share_the_directory_around_it(
    scene: Scene, mark: str
) -> None:
    (scene.private / "bin").mkdir()
    (scene.private / "lib").mkdir()
    shutil.copy("/bin/cat", scene.private / "bin/tool")
    done = scene.wardian(
        "exec", "--write", f"{scene.private}/lib:/lib2", "--", "mkdir", f"/lib2/{mark[4:]}"
    )
    assert done.returncode == 0, done.stderr
    tool = str(scene.private / "bin/tool")
    assert SECRET not in scene.wardian("exec", "--", tool, f"{scene.private}/secret").stdout
    assert (
        scene.wardian(
            "exec", "--read", str(scene.private), "--", tool, f"{scene.private}/secret"
        ).stdout
        == SECRET
    )


# wardian's own modules


def installed_in(scene: Scene, **options: bool) -> tuple[Path, dict[str, str]]:
    """wardian in the project's own venv, as many have it."""
    place = scene.project / ".venv"
    venv.create(place, symlinks=True, with_pip=False)
    source = str(Path(programs.__file__).parents[3])
    site = next(place.glob("lib/python3*/site-packages"))
    (site / "wardian.pth").write_text(source + "\n")
    script = place / "bin/wardian"
    script.write_text(f"#!{place}/bin/python\nfrom wardian.cli import main\nmain()\n")
    script.chmod(0o755)
    return script, scene.env


def call(
    script: Path | str, scene: Scene, *args: str, **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(script), *args], cwd=scene.project, env=scene.env | more, capture_output=True,
        text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_a_guest_can_not_drop_a_pth_file_where_wardian_starts_from(scene: Scene) -> None:
    script, _ = installed_in(scene)
    mark = scene.top / "started-outside"
    line = f"import os; os.mkdir('{mark}')"
    drop = (
        f'for d in .venv/lib/python3*/site-packages; do echo "{line}" > $d/x.pth;'
        f' echo "{line}" > $d/sitecustomize.py; done; rm -f .venv/bin/*; mv .venv away; touch made'
    )
    call(script, scene, "exec", "--work", ".", "--", "sh", "-c", drop)
    assert (scene.project / "made").exists()
    assert call(script, scene, "exec", "--", "true").returncode == 0
    assert not mark.exists()


def test_a_venv_reached_through_a_link_in_the_share_is_refused(scene: Scene) -> None:
    """A guest could replace the link, and the next start would be its own."""
    script, _ = installed_in(scene)
    real = scene.top / "venv-elsewhere"
    shutil.move(scene.project / ".venv", real)
    (scene.project / ".venv").symlink_to(real)
    done = call(script, scene, "exec", "--work", ".", "--", "true")
    assert done.returncode == 125, done.stdout
    assert ".venv" in done.stderr
    (real / "bin/wardian").write_text(
        f"#!{real}/bin/python\nfrom wardian.cli import main\nmain()\n"
    )
    assert call(real / "bin/wardian", scene, "exec", "--work", ".", "--", "true").returncode == 0


def test_the_directory_that_python_m_wardian_was_started_in_is_not_shared_for_writing(
    scene: Scene,
) -> None:
    module = (sys.executable, "-m", "wardian", "exec", "--work")
    done = call(module[0], scene, *module[1:], ".", "--", "true")
    assert done.returncode == 125, done.stderr
    assert "python3 -P -m wardian" in done.stderr
    (scene.project / "json").mkdir()
    assert call(module[0], scene, *module[1:], "json", "--", "true").returncode == 125
    for words in ((*module, "sub"), (sys.executable, "-P", *module[1:], ".")):
        assert call(words[0], scene, *words[1:], "--", "true").returncode == 0


def test_what_pythonpath_names_is_kept_from_the_guest(scene: Scene) -> None:
    (scene.project / "lib").mkdir()
    command = (sys.executable, "-P", "-m", "wardian", "exec", "--work")
    more = (f"{scene.project}/lib", f"{scene.project}/none", os.environ.get("PYTHONPATH", ""))
    env = {"PYTHONPATH": ":".join(entry for entry in more if entry)}
    script = "touch lib/json.py none/json.py; mkdir none; mv lib x; touch made; ls -A lib none"
    done = call(command[0], scene, *command[1:], ".", "--", "sh", "-c", script, **env)
    assert (scene.project / "made").exists(), done.stderr
    assert os.listdir(scene.project / "lib") == os.listdir(scene.project / "none") == []
    assert call(command[0], scene, *command[1:], "lib", "--", "true", **env).returncode == 125


def test_the_users_own_packages_are_kept_from_the_guest(scene: Scene) -> None:
    """Where they would be, if there were any: Python looks there at each start."""
    python = "/usr/bin/python3"
    if not os.path.exists(python):
        pytest.skip("/usr/bin/python3 is not installed")
    source = str(Path(programs.__file__).parents[3])
    code = (
        f"import sys; sys.path.insert(1, {source!r}); sys.argv[0] = 'wardian'; "
        "from wardian.cli import main; main()"
    )
    home = scene.top / "home"
    script = (
        "mkdir -p .local/lib/python3.{8,9,10,11,12,13,14,15}/site-packages;"
        "for d in .local/lib/*/site-packages; do touch $d/x.pth; done; touch made"
    )
    done = call(python, scene, "-c", code, "exec", "--work", str(home), "--", "bash", "-c", script)
    assert (home / "made").exists(), done.stderr
    version = subprocess.run(
        [python, "-c", "import site; print(site.getusersitepackages())"],
        env=scene.env, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    assert os.listdir(version) == []
