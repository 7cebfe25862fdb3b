"""Wheels made to do harm, unpacked and linked by the real sandbox and the real store."""

# ruff: noqa: E501 - tables of hostile names

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.runner.hostile import wheel
from wardian.runner.needs import Needs
from wardian.runner.packages import bytecode, cabinet, linking, python, venv, wheels
from wardian.runner.packages.layout import shebang
from wardian.runner.packages.model import Archive, Preparation, PreparationError
from wardian.runner.packages.pins import Pins
from wardian.runner.packages.rooms import Room, reading
from wardian.runner.packages.tools import Tools
from wardian.sandbox.policy.policy import Share

Install = Callable[..., Path]
SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def tools() -> Tools:
    base = venv.base_of(sys.executable)
    assert base is not None
    return Tools(base, None, "", ())


@pytest.fixture
def install(home: Path) -> Install:
    """Installs wheels, each a filename and its bytes, into a new environment."""

    def put(*packed: tuple[str, bytes]) -> Path:
        number = len(list(home.glob("archive-*")))
        archives = []
        for at, (name, data) in enumerate(packed):
            path = home / f"archive-{number}-{at}" / name
            path.parent.mkdir()
            path.write_bytes(data)
            archives.append(Archive(str(path), name, hashlib.sha256(data).hexdigest()))
        digest = f"environment{number}"
        with cabinet.drawer("environments", digest), cabinet.drawer("scratch", digest):
            pass
        places = (cabinet.path_of(kind, digest) for kind in ("environments", "scratch"))
        needs = Needs((), None, origin="--with")
        job = Preparation(*places, needs, False, False, lambda _: None, Pins())
        python.install(job, tools(), archives)
        return Path(job.path)

    return put


def changed(packed: tuple[str, bytes], *entries: tuple[zipfile.ZipInfo, str]) -> tuple[str, bytes]:
    """The same wheel with more entries, as they are."""
    name, data = packed
    with io.BytesIO(data) as file:
        with zipfile.ZipFile(file, "a") as archive:
            for info, text in entries:
                archive.writestr(info, text)
        return name, file.getvalue()


def entry(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo("x")
    found.filename = name  # as it is: the constructor would tidy it up
    found.create_system, found.external_attr = 3, mode << 16
    return found


def everything(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*")}


def stored(home: Path, name: str) -> Path:
    (found,) = (home / "cache/wardian").glob(f"packages-*/wheels/*/{name}")
    return found


@pytest.mark.parametrize(
    "name",
    ["../evil", "evil/../../evil", "/tmp/wardian-evil", "evil/./x", "evil//x", "../../../../evil",
     "x" * 300, "/".join("d" * 80), "evil/" + "y" * 1100],
)  # fmt: skip
def test_no_name_in_a_wheel_leads_elsewhere(name: str, install: Install, home: Path) -> None:
    packed = changed(wheel("lure", {"lure.py": ""}), (entry(name), "evil"))
    why = "absolute path" if name.startswith("/") else "in it that"
    with pytest.raises(PreparationError, match=why):
        install(packed)
    assert not Path("/tmp/wardian-evil").exists()
    assert not [one for one in everything(home) if "evil" in one]
    assert not list((home / "cache/wardian").glob("packages-*/wheels/*"))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK])
def test_neither_links_nor_devices_come_out_of_a_wheel(
    kind: int, install: Install, home: Path
) -> None:
    packed = changed(wheel("lure", {"lure.py": ""}), (entry("out", kind | 0o777), "/etc/passwd"))
    with pytest.raises(PreparationError, match="link or a device"):
        install(packed)
    assert not list(home.rglob("out"))


def test_no_file_has_the_rights_of_another_user_or_is_open_to_all(install: Install) -> None:
    modes = {"a": 0o106777, "b": 0o102666, "c": 0o100000, "d": 0o101111}
    entries = [(entry(name, mode), "x") for name, mode in modes.items()]
    made = install(changed(wheel("lure", {"lure.py": ""}), *entries))
    found = {name: stat.S_IMODE((made / SITE / name).stat().st_mode) for name in modes}
    assert found == {"a": 0o755, "b": 0o644, "c": 0o644, "d": 0o755}


def test_what_the_umask_hides_is_readable_for_guests_all_the_same(install: Install) -> None:
    before = os.umask(0o077)
    try:
        made = install(wheel("friendly", {"friendly/__init__.py": ""}))
    finally:
        os.umask(before)
    for path in (made / SITE, made / SITE / "friendly", made / "bin", made / SITE / "friendly/__init__.py"):  # fmt: skip
        assert path.stat().st_mode & 0o044 == 0o044, path


def test_two_files_of_one_name_are_refused_and_two_cases_are_two_files(install: Install) -> None:
    made = install(wheel("friendly", {"Same.py": "A", "same.py": "b"}))
    assert [(made / SITE / name).read_text() for name in ("Same.py", "same.py")] == ["A", "b"]
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = changed(wheel("lure", {"lure.py": "1"}), (entry("lure.py"), "2"))
    with pytest.raises(PreparationError, match="two files of one name"):
        install(twice)
    for inner in ("lure.py/x", "lure.py/x/y"):
        nested = changed(wheel("lure", {"lure.py": "1"}), (entry(inner), "2"))
        with pytest.raises(PreparationError, match="two files of one name"):
            install(nested)


def test_a_record_that_lies_has_no_effect(install: Install, home: Path) -> None:
    victim = home / "victim"
    victim.write_text("mine")
    lies = f"../../../../../../victim,,\n{victim},sha256=x,4\nother.py,,\nlure.py,sha256=0,99\n"
    name, data = wheel("lure", {"lure.py": "X"})
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        texts = {one: old.read(one) for one in old.namelist() if not one.endswith("RECORD")}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for one, text in {**texts, "lure-1.0.dist-info/RECORD": lies.encode()}.items():
            archive.writestr(one, text)
    made = install((name, packed.getvalue()))
    rows = (made / SITE / "lure-1.0.dist-info/RECORD").read_text().splitlines()
    assert {row.split(",")[0] for row in rows} == {
        "lure.py", *(f"lure-1.0.dist-info/{one}" for one in ("METADATA", "WHEEL", "RECORD", "INSTALLER")),
    }  # fmt: skip
    assert victim.read_text() == "mine"


@pytest.mark.parametrize(
    "point",
    ["../x = m:f", "a/b = m:f", "/x = m:f", ".. = m:f", ".x = m:f", "x = m", "x = m:f()", "x = os;m:f",
     "x = m:f\\ng", "x = 'm':f", "x = m.:f", f"{'x' * 300} = m:f", "x\t\ty\u2028 = m:f"],
)  # fmt: skip
def test_an_odd_entry_point_is_refused(point: str, install: Install, home: Path) -> None:
    with pytest.raises(PreparationError, match="invalid entry point"):
        install(wheel("lure", {"m.py": ""}, entry_points=f"[console_scripts]\n{point}\n"))
    assert not list(home.rglob("bin/x"))


@pytest.mark.parametrize(
    "place",
    ["{data}/data/pyvenv.cfg", "{data}/scripts/python", "{data}/data/bin/python3", "{data}/data/lib64",
     "{data}/data/bin/python/x", "{data}/data/pyvenv.cfg/x"],
)  # fmt: skip
def test_no_part_of_the_environment_is_replaced(place: str, install: Install) -> None:
    with pytest.raises(PreparationError, match="environment's own"):
        install(wheel("lure", {"lure.py": "", place: "x"}))
    points = "[console_scripts]\npython = lure:f\n"
    with pytest.raises(PreparationError, match="environment's own bin/python"):
        install(wheel("lure", {"lure.py": ""}, entry_points=points))


def test_a_file_takes_no_directory_s_place(install: Install) -> None:
    with pytest.raises(PreparationError, match="where a directory is"):
        install(wheel("lure", {"lure.py": "", "{data}/data/lib": "x"}))
    first = wheel("first", {"shared/x.py": ""})
    with pytest.raises(PreparationError, match="where a directory is"):
        install(first, wheel("second", {"shared": "x"}))
    with pytest.raises(PreparationError, match="where a directory is"):
        install(wheel("second", {"shared": "x"}), first)


def test_no_wheel_changes_the_stored_files_of_another(install: Install, home: Path) -> None:
    """Links share their file: what takes a place must take the name, and never write to it."""
    points = "[console_scripts]\ntool = second:f\n"
    first = wheel("first", {"shared.py": "FIRST", "{data}/scripts/tool": "#!/bin/sh\nFIRST"})
    second = wheel("second", {"shared.py": "SECOND!!"}, entry_points=points)
    third = wheel("third", {"{data}/scripts/tool": "#!python\nTHIRD"})
    made = install(first, second, third)
    assert (made / SITE / "shared.py").read_text() == "SECOND!!"
    assert (made / "bin/tool").read_text() == f"{shebang(f'{made}/bin/python')}\nTHIRD"
    assert stored(home, "first-1.0.data/scripts/tool").read_text() == "#!/bin/sh\nFIRST"
    again = install(first)
    assert (again / SITE / "shared.py").read_text() == "FIRST"
    assert (again / "bin/tool").read_text() == "#!/bin/sh\nFIRST"
    assert (again / SITE / "shared.py").stat().st_nlink == 2


def test_files_belong_where_pip_puts_them(install: Install) -> None:
    files = {
        "{data}/purelib/pure.py": "1", "{data}/platlib/plat.py": "2", "{data}/headers/h.h": "3",
        "{data}/data/share/doc.txt": "4", "{data}/scripts/tool": "#!python -s\nprint(5)", "x.pth": "",
        "{data}/data/lib64/more.txt": "6",
    }  # fmt: skip
    points = (
        "[console_scripts]\nhello = pkg.mod:Class.main [extra]\n[gui_scripts]\nwin = pkg:main\n"
    )
    made = install(wheel("lure", {**files, "pkg/__init__.py": ""}, entry_points=points))
    python_named = SITE.split("/")[1]
    places = [f"{SITE}/pure.py", f"{SITE}/plat.py", f"include/site/{python_named}/lure/h.h",
              "share/doc.txt", "bin/tool", "bin/hello", "bin/win", f"{SITE}/x.pth", "lib/more.txt"]  # fmt: skip
    assert [one for one in places if not (made / one).is_file()] == []
    assert (made / "bin/tool").read_text() == f"{shebang(f'{made}/bin/python')}\nprint(5)"
    assert "from pkg.mod import Class" in (made / "bin/hello").read_text()
    assert os.access(made / "bin/hello", os.X_OK)
    rows = (made / SITE / "lure-1.0.dist-info/RECORD").read_text()
    assert "../../../bin/hello,," in rows


def test_a_wheel_of_another_name_or_of_none_is_refused(install: Install) -> None:
    name, data = wheel("lure", {"lure.py": ""})
    with pytest.raises(PreparationError, match="metadata of its own name"):
        install((name.replace("lure", "friendly"), data))
    with pytest.raises(PreparationError, match="metadata of its own name"):
        install(wheel("lure", {"lure.py": "", "friendly-1.0.dist-info/METADATA": "x"}))
    with pytest.raises(PreparationError, match="can't be unpacked"):
        install((name, b"PK\x03\x04 no zip at all"))


def test_what_is_too_large_is_not_written(
    install: Install, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheels, "UNPACKED_BYTES", 1 << 20)
    with pytest.raises(PreparationError, match="more than can be unpacked"):
        install(wheel("lure", {"lure.py": "0" * (2 << 20)}))
    assert all(path.stat().st_size == 0 for path in home.rglob("*.py"))
    monkeypatch.setattr(wheels, "MAX_ENTRIES", 5)
    with pytest.raises(PreparationError, match="more than can be unpacked"):
        install(wheel("lure", {f"lure{n}.py": "" for n in range(9)}))


# Tries to get out of where wheels are read; what it managed stands in the wheel that it "unpacks".
HOSTILE = """
import json, os, socket, sys
seen = []
def attempt(name, act):
    try:
        act()
        seen.append(name)
    except OSError:
        pass
HOME, HERE = sys.argv[1:3]
for place in (HOME, HERE, "/archives", "/", "/usr", "/etc", sys.prefix, os.path.dirname(sys.executable)):
    attempt("write " + place, lambda: open(os.path.join(place, "evil"), "w"))
    attempt("mkdir " + place, lambda: os.mkdir(os.path.join(place, "evil-d")))
for folder in ("/archives", "/mnt/wardian/lib"):
    for name in os.listdir(folder):
        attempt("open " + name, lambda: open(os.path.join(folder, name), "r+b"))
        attempt("chmod " + name, lambda: os.chmod(os.path.join(folder, name), 0o777))
        attempt("rename " + name, lambda: os.rename(os.path.join(folder, name), os.path.join(folder, "evil")))
for place in (HOME, HERE, os.path.expanduser("~root/.ssh"), "/etc/shadow"):
    attempt("see " + place, lambda: os.stat(place))
for number in range(3, 64):
    attempt(f"descriptor {number}", lambda: os.ftruncate(number, 0))
for address in (("1.1.1.1", 53), ("127.0.0.1", int(os.environ.get("PORT", "80")))):
    attempt("network", lambda: socket.create_connection(address, 1).close())
open("/tmp/private", "w").write("what is the guest's own can be written to")
tried = json.dumps(seen).encode()
out = sys.stdout.buffer
out.write(b'{"entry_points": []}\\n')
for name, data in (("lure-1.0.dist-info/METADATA", b""), ("seen.json", tried)):
    out.write(json.dumps([name, 33188, len(data)]).encode() + b"\\n" + data)
out.flush()
"""


def taken_over(monkeypatch: pytest.MonkeyPatch, code: str, *words: str) -> None:
    """From now on this runs in place of what reads wheels."""
    command = [tools().base.python, "-I", "-S", "-c", code, *words]
    monkeypatch.setattr(Tools, "program", lambda self, name: command)


def test_a_reader_that_was_taken_over_writes_nowhere(
    install: Install, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reports by the only way out that it has: the files that it prints."""
    taken_over(monkeypatch, HOSTILE, str(home), str(Path(__file__).parent))
    made = install(wheel("lure", {"lure.py": ""}))
    assert (made / SITE / "seen.json").read_text() == "[]"
    assert not [one for one in everything(home) if "evil" in one]
    assert not list(Path(__file__).parent.glob("evil*"))


def test_the_same_reader_finds_the_doors_that_are_open(
    install: Install, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a directory to write to and with the network it reports both: the test above sees."""

    def open_room(archive: str, name: str, shares: Sequence[Share]) -> Room:
        room = reading(archive, name, shares)
        policy = room.policy.with_shares([Share(str(home / "given"), str(home), write=True)])
        return room._replace(policy=policy)

    (home / "given").mkdir()
    monkeypatch.setattr(wheels, "reading", open_room)
    taken_over(monkeypatch, HOSTILE, str(home), str(Path(__file__).parent))
    made = install(wheel("lure", {"lure.py": ""}))
    seen = json.loads((made / SITE / "seen.json").read_text())
    assert seen == [f"write {home}", f"mkdir {home}", f"see {home}"]


@pytest.mark.parametrize(
    ("printed", "why"),
    [('["../../evil", 33188, 1]\nx', "leads elsewhere"), ('["a", 33188, 9]\nx', "to its end"),
     ('["a", 33188, -1]\n', "more than"), ('["a"]\n', "can't be unpacked"),
     ('["a", 40960, 1]\nx', "link or a device"), ("[" * 9000 + "\n", "can't be unpacked")],
)  # fmt: skip
def test_what_a_taken_over_reader_prints_is_not_believed(
    printed: str, why: str, install: Install, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"entry_points": []}\n' + printed
    taken_over(monkeypatch, f"import sys; sys.stdout.write({text!r})")
    with pytest.raises(PreparationError, match=why):
        install(wheel("lure", {"lure.py": ""}))
    assert not [one for one in everything(home) if "evil" in one]
    assert not list((home / "cache/wardian").glob("packages-*/wheels/*"))


def test_a_stored_file_that_was_changed_is_unpacked_anew(install: Install, home: Path) -> None:
    first = wheel("first", {"first.py": "RIGHT"})
    install(first)
    for spoil in ("longer than before", "WRONG"):
        stored(home, "first.py").write_text(spoil)
        made = install(first)
        assert (made / SITE / "first.py").read_text() == "RIGHT"
    stored(home, "first.py").unlink()
    stored_link = next((home / "cache/wardian").glob("packages-*/wheels/*/")) / "first.py"
    stored_link.symlink_to("/etc/passwd")
    assert (install(first) / SITE / "first.py").read_text() == "RIGHT"


def test_where_links_are_impossible_files_are_copied(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*_: object, **__: object) -> None:
        raise OSError(31, "Too many links")

    monkeypatch.setattr(linking.os, "link", no_link)
    made = install(wheel("first", {"first.py": "RIGHT"}))
    assert (made / SITE / "first.py").read_text() == "RIGHT"
    assert (made / SITE / "first.py").stat().st_nlink == 1


def test_bytecode_comes_only_beside_a_module_that_there_is(
    install: Install, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = install(wheel("friendly", {"friendly.py": "import pkg.inner", "pkg/__init__.py": "X = 1", "pkg/inner.py": ""}))  # fmt: skip
    base = tools().base
    bytecode.ensure("environment0", str(made), base, ["friendly"])
    names = sorted(path.name.split(".")[0] for path in made.rglob("*.pyc"))
    assert names == ["__init__", "friendly", "inner"]
    for path in made.rglob("*.pyc"):
        path.unlink()
    hostile = ["../../../evil.pyc", "__pycache__/absent.cpython-311.pyc", "pkg/__init__.py",
               "../../bin/__pycache__/python.cpython-311.pyc", "pkg/__pycache__/inner.cpython-311.pyc"]  # fmt: skip
    printed = '{"entry_points": []}\n' + "".join(f'["{one}", 0, 1]\nx' for one in hostile[1:])
    code = [base.python, "-c", f"import sys; sys.stdout.write({printed!r})"]
    monkeypatch.setattr(bytecode, "compilers", lambda base: ([], code))
    cabinet.forget("environment0", bytecode.BYTECODE)
    bytecode.ensure("environment0", str(made), base, ["friendly"])
    assert (made / SITE / "pkg/__init__.py").read_text() == "X = 1"
    assert list(made.rglob("*.pyc")) == []  # one bad name spoils the rest
    printed = '{"entry_points": []}\n' + "".join(f'["{one}", 0, 1]\nx' for one in (hostile[1], hostile[2], hostile[4]))  # fmt: skip
    code[2] = f"import sys; sys.stdout.write({printed!r})"
    cabinet.forget("environment0", bytecode.BYTECODE)
    bytecode.ensure("environment0", str(made), base, ["friendly"])
    assert [path.name for path in made.rglob("*.pyc")] == ["inner.cpython-311.pyc"]
    assert (made / SITE / "pkg/__init__.py").read_text() == "X = 1"


def test_what_is_imported_late_is_compiled_at_a_later_use(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "def f(): import friendly.late"
    files = {"friendly/__init__.py": code, "friendly/late.py": "", "friendly/tests/test_x.py": ""}
    made = install(wheel("friendly", files))

    def names() -> list[str]:
        return sorted(path.name.split(".")[0] for path in made.rglob("*.pyc"))

    base = tools().base
    bytecode.ensure("environment0", str(made), base, ["friendly"])
    assert names() == ["__init__"]
    with monkeypatch.context() as patched:
        patched.setattr(bytecode, "SECONDS", -1.0)
        bytecode.ensure("environment0", str(made), base, ["friendly"])
    assert names() == ["__init__"]  # there was no time; the next use goes on
    bytecode.ensure("environment0", str(made), base, ["friendly"])
    assert names() == ["__init__", "late"]
    for path in made.rglob("*.pyc"):
        path.unlink()
    bytecode.ensure("environment0", str(made), base, ["friendly"])
    assert names() == []  # it was done
