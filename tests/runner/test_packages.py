"""The parts of a preparation that need no sandbox: what is looked at, kept, and believed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from wardian.runner.packages import cabinet, store, venv
from wardian.runner.packages.contents import refuse_strange
from wardian.runner.packages.model import Locked, PackageFile, PreparationError
from wardian.runner.packages.resolving import candidate_fault, read_pylock, read_report
from wardian.runner.packages.tools import find_pip


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/wardian/packages-3"


# What came of it


@pytest.mark.parametrize(
    ("name", "target", "fine"),
    [
        ("a", "b/c", True), ("a/b", "../c", True), ("a/b", "../../c", False), ("a", "..", False),
        ("a", "/etc/passwd", False), ("a", "b/../../c", False), ("a/b", "c/../d", False),
        ("a/b", "./.././c", True), ("a", "../a", False), ("a", "", True),
    ],
)  # fmt: skip
def test_links_may_not_lead_out(name: str, target: str, fine: bool, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    if target:
        (tmp_path / name).symlink_to(target)
    if fine:
        refuse_strange(str(tmp_path))
        return
    with pytest.raises(PreparationError, match="leads out"):
        refuse_strange(str(tmp_path))


def test_pipes_sockets_and_borrowed_rights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/file").write_text("x")
    refuse_strange(str(tmp_path))
    os.mkfifo(tmp_path / "deep/er/pipe")
    with pytest.raises(PreparationError, match="deep/er/pipe is neither"):
        refuse_strange(str(tmp_path))
    (tmp_path / "deep/er/pipe").unlink()
    (tmp_path / "deep/er/file").chmod(0o4755)
    with pytest.raises(PreparationError, match="another user"):
        refuse_strange(str(tmp_path))


# The environment


def base() -> venv.BasePython:
    found = venv.base_of(sys.executable)
    assert found is not None
    return found


def test_an_environment_works(tmp_path: Path) -> None:
    import subprocess

    one = tmp_path / "env"
    one.mkdir()
    venv.make(str(one), base())
    printed = subprocess.run(
        [one / "bin/python", "-I", "-c", "import sys; print(sys.prefix)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert printed.stdout.strip() == str(one)


def test_only_an_installation_is_a_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link to a directory without a standard library, or a home that has one, is none."""
    private = tmp_path / "private"
    (private / "bin").mkdir(parents=True)
    (private / "bin/python3.11").write_text("")
    (tmp_path / "python3").symlink_to(private / "bin/python3.11")
    assert venv.base_of(str(tmp_path / "python3")) is None
    (private / "pyvenv.cfg").write_text("home = /usr/bin\n")
    assert venv.base_of(str(private / "bin/python3.11")) is None
    (private / "lib/python3.11").mkdir(parents=True)
    (private / "lib/python3.11/os.py").write_text("")
    found = venv.base_of(str(tmp_path / "python3"))
    assert found is not None
    assert found.prefix == str(private)
    for home in (private, private / "home"):
        home.mkdir(exist_ok=True)
        monkeypatch.setenv("HOME", str(home))
        assert venv.base_of(str(tmp_path / "python3")) is None


def test_pip_is_found_by_its_files() -> None:
    found = find_pip(base())
    assert found is not None
    assert os.path.exists(found)


# The store and the records


def test_the_store_takes_only_what_is_what_it_should_be(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "fetched"
    folder.mkdir()
    fd = os.open(folder, os.O_RDONLY)
    (folder / "0-0").write_bytes(b"wheel")
    with pytest.raises(PreparationError, match="its sha256 differs"):
        store.take_in(store.PYTHON, fd, "0-0", "x.whl", [("sha256", "0" * 64)])
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (folder / "link").symlink_to(victim)
    os.link(victim, folder / "hard")
    os.mkfifo(folder / "pipe")
    for name in ("link", "hard", "pipe", "nowhere"):
        with pytest.raises(PreparationError, match="not fetched"):
            store.take_in(store.PYTHON, fd, name, "x.whl", [])
    for filename in ("../x.whl", "/x.whl", ".x", "a/b", ""):
        with pytest.raises(PreparationError, match="can't be the name"):
            store.take_in(store.PYTHON, fd, "0-0", filename, [])
    archive = store.take_in(store.PYTHON, fd, "0-0", "x.whl", [])
    os.close(fd)
    assert Path(archive.path).read_bytes() == b"wheel"
    assert store.find(store.PYTHON, archive.digest, "x.whl") == archive
    os.chmod(archive.path, 0o644)
    Path(archive.path).write_bytes(b"poison")
    assert store.find(store.PYTHON, archive.digest, "x.whl") is None
    assert victim.read_text() == "mine"
    assert victim.stat().st_mode & 0o777 != 0o444


def test_records_replace_links_and_never_follow_them(kept: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text('{"schema": 2, "base": "/evil"}')
    cabinet.write_record("a", {"base": "/usr/bin/python3"})
    assert (cabinet.read_record("a") or {})["base"] == "/usr/bin/python3"
    (kept / "records/b.json").symlink_to(victim)
    assert cabinet.read_record("b") is None
    cabinet.write_record("b", {})
    assert "/evil" in victim.read_text()
    cabinet.forget("b")
    assert cabinet.read_record("b") is None


def test_a_cache_that_is_a_link_or_open_to_others_is_refused(kept: Path, tmp_path: Path) -> None:
    kept.parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    kept.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PreparationError, match="can't be kept"), cabinet.drawer("records"):
        pass
    kept.unlink()
    kept.mkdir()
    kept.chmod(0o777)
    with pytest.raises(PreparationError, match="others may write"), cabinet.drawer("records"):
        pass
    kept.chmod(0o755)
    with cabinet.drawer("records") as fd:
        assert fd >= 0


def test_what_is_no_directory_is_removed_and_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o755)
    (victim / "file").write_text("x")
    (tmp_path / "link").symlink_to(victim)
    cabinet.discard(str(tmp_path / "link"))
    assert (victim / "file").exists()
    assert victim.stat().st_mode & 0o777 == 0o755
    assert not (tmp_path / "link").is_symlink()


# What resolvers answer

WHEEL = "x-1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("url", "direct", "fine"),
    [
        (f"https://h/{WHEEL}", False, True), (f"https://h/{WHEEL}", True, True),
        (f"http://index.lan:80/{WHEEL}", False, True),
        (f"http://index.lan:80/{WHEEL}", True, False),
        (f"http://other.lan/{WHEEL}", False, False), (f"http://127.0.0.1:5/{WHEEL}", True, True),
        (f"file:///opt/wheels/{WHEEL}", False, True), (f"file:///opt/wheels/{WHEEL}", True, False),
        (f"file:///etc/{WHEEL}", False, False), (f"/opt/wheels/../../etc/{WHEEL}", False, False),
        (f"file:///opt/wheels/%2e%2e/{WHEEL}", False, False),
        ("https://h/x-1.0.tar.gz", False, False),
        ("https://h/y-1.0-py3-none-any.whl", False, False), (f"ftp://h/{WHEEL}", False, False),
    ],
)  # fmt: skip
def test_only_wheels_from_where_the_user_says_are_fetched(
    url: str, direct: bool, fine: bool
) -> None:
    candidate = PackageFile(url, ())
    known, local = {"http://index.lan:80"}, ["/opt/wheels"]
    why = candidate_fault(Locked("x", "1.0", (candidate,), direct), candidate, known, local)
    assert (why is None) == fine


@pytest.mark.parametrize(
    "package",
    ['sdist = {url = "https://h/x.tar.gz"}', 'vcs = {type = "git", url = "https://h/x"}',
     'directory = {path = "/x"}', ""],
)  # fmt: skip
def test_a_lock_without_wheels_is_refused(package: str) -> None:
    text = f'lock-version = "1.0"\n[[packages]]\nname = "x"\nversion = "1"\n{package}\n'
    with pytest.raises(PreparationError, match="built"):
        read_pylock(text.encode())


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"install": [1]}', b"\xff", b'{"install": 5}']
)
def test_answers_that_can_not_be_read_are_errors(data: bytes) -> None:
    with pytest.raises(PreparationError, match="can't be read"):
        read_report(data)
