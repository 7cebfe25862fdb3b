"""Hostile archives: each is refused with a reason, and leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import resource
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wardian.errors import SkillError
from wardian.skills import check, load_skill, unpack
from wardian.skills.archive import members, unpacking
from wardian.skills.archive.members import ArchiveLimits

from .archives import GOOD, MANIFEST, Item, deflated, tar_of, zip_bytes, zip_of

Build = Callable[..., Path]
BUILDERS: list[Build] = [zip_of, tar_of]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """An empty directory to unpack into; whatever the test does, it must not leak past it."""
    inner = tmp_path / "deep" / "inside" / "here"
    inner.mkdir(parents=True)
    yield inner
    assert sorted(os.listdir(tmp_path / "deep")) == ["inside"]
    assert sorted(os.listdir(tmp_path / "deep" / "inside")) == ["here"]


def refused(archive: Path, place: Path, *, limits: ArchiveLimits | None = None) -> str:
    with pytest.raises(SkillError) as caught:
        unpack(archive, place, limits=limits)
    assert os.listdir(place) == [], "something was left behind"
    assert str(archive) in str(caught.value) or str(place) in str(caught.value)
    return str(caught.value)


def test_a_good_archive_unpacks(tmp_path: Path, place: Path) -> None:
    for number, build in enumerate(BUILDERS):
        where = place / str(number)
        target = unpack(build(tmp_path / f"{number}.skill", *GOOD), where)
        assert target == where / "my-skill"
        assert (target / "SKILL.md").read_bytes() == MANIFEST
        assert stat.S_IMODE((target / "scripts/run.sh").stat().st_mode) == 0o755
        assert stat.S_IMODE((target / "SKILL.md").stat().st_mode) == 0o644


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_every_compression_of_a_tar_is_told_by_its_content(
    tmp_path: Path, place: Path, mode: str
) -> None:
    archive = tar_of(tmp_path / "whatever.skill", *GOOD, mode=mode)
    assert load_skill(archive).name == "my-skill"
    assert (unpack(archive, place) / "scripts/run.sh").is_file()


NAMES = {
    "traversal": ("my-skill/../../../evil", "climbs out"),
    "traversal at the start": ("../evil", "climbs out"),
    "traversal in the middle": ("my-skill/a/../b", "climbs out"),
    "absolute": ("/tmp/evil", "absolute"),
    "doubled slash": ("//tmp/evil", "absolute"),
    "backslash": ("my-skill\\..\\evil", "backslash"),
    "backslash inside": ("my-skill/a\\b", "backslash"),
    "drive letter": ("C:evil", "drive letter"),
    "drive and slash": ("c:/evil", "drive letter"),
    "escape sequence": ("my-skill/\x1b[2J", "control"),
    "line feed": ("my-skill/a\nb", "control"),
    "c1 control": ("my-skill/\x9b", "control"),
    "bidi override": ("my-skill/gpj.\u202eexe", "hide or reorder"),
    "zero width": ("my-skill/a\u200bb", "hide or reorder"),
    "trailing dot": ("my-skill/a.", "ends with"),
    "trailing space": ("my-skill/a ", "ends with"),
    "leading space": ("my-skill/ a", "starts or ends"),
    "three dots": ("my-skill/...", "ends with"),
    "windows device": ("my-skill/nul.txt", "device on Windows"),
    "long name": ("my-skill/" + "n" * 256, "longer than"),
    "long path": ("my-skill/" + "/".join(["d" * 100] * 11), "longer than"),
    "deep path": ("my-skill/" + "/".join(["d"] * 30), "deep"),
}


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("label", NAMES)
def test_a_bad_name_is_refused(label: str, build: Build, tmp_path: Path, place: Path) -> None:
    name, reason = NAMES[label]
    archive = build(tmp_path / "x.skill", *GOOD, Item(name))
    assert reason in refused(archive, place)


@pytest.mark.parametrize(
    "name", ["my-skill/-rf", "my-skill/.hidden", "my-skill/größe", "my-skill/a b"]
)
@pytest.mark.parametrize("build", BUILDERS)
def test_a_merely_unusual_name_is_not(name: str, build: Build, tmp_path: Path, place: Path) -> None:
    assert (unpack(build(tmp_path / "x.skill", *GOOD, Item(name)), place) / name[9:]).is_file()


def test_a_nul_in_a_zip_name_does_not_shorten_it(tmp_path: Path, place: Path) -> None:
    content = deflated(b"x")
    path = tmp_path / "x.zip"
    path.write_bytes(zip_bytes((b"my-skill/a\0/../../evil", content, 1, zlib.crc32(b"x"))))
    assert "control characters" in refused(path, place) or "damaged" in refused(path, place)


def test_a_tar_name_that_is_not_utf_8_is_refused(tmp_path: Path, place: Path) -> None:
    archive = tar_of(tmp_path / "x.tar", *GOOD, Item("my-skill/caf\udce9"), mode="w")
    assert "not UTF-8" in refused(archive, place)


KINDS = {
    "symbolic link": (Item("my-skill/l", kind=stat.S_IFLNK, target="/etc/passwd"), "link"),
    "link to a folder": (Item("my-skill/l", kind=stat.S_IFLNK, target=".."), "link"),
    "link inside": (Item("my-skill/l", kind=stat.S_IFLNK, target="SKILL.md"), "link"),
    "character device": (Item("my-skill/d", kind=stat.S_IFCHR), "device"),
    "block device": (Item("my-skill/d", kind=stat.S_IFBLK), "device"),
    "pipe": (Item("my-skill/p", kind=stat.S_IFIFO), "pipe"),
    "setuid": (Item("my-skill/s", mode=0o4755), "setuid"),
    "setgid": (Item("my-skill/s", mode=0o2755), "setuid"),
}


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("label", KINDS)
def test_what_is_no_plain_file_is_refused(
    label: str, build: Build, tmp_path: Path, place: Path
) -> None:
    item, reason = KINDS[label]
    assert reason in refused(build(tmp_path / "x.skill", *GOOD, item), place)


def test_a_hard_link_is_refused(tmp_path: Path, place: Path) -> None:
    item = Item("my-skill/l", kind=stat.S_IFLNK, target="/etc/passwd")
    assert "link" in refused(tar_of(tmp_path / "x.tgz", *GOOD, item, hard_links=True), place)


def test_a_link_then_a_file_through_it_is_refused(tmp_path: Path, place: Path) -> None:
    items = (Item("my-skill/l", kind=stat.S_IFLNK, target="/tmp"), Item("my-skill/l/evil"))
    for build in BUILDERS:
        assert "link" in refused(build(tmp_path / "x.skill", *GOOD, *items), place)


PAIRS = {
    "duplicate": (("my-skill/a", "my-skill/a"), "twice"),
    "duplicate with dots": (("my-skill/a", "my-skill/./a"), "twice"),
    "duplicate with slashes": (("my-skill/a", "my-skill//a"), "twice"),
    "case": (("my-skill/a", "my-skill/A"), "case or accents"),
    "case of a folder": (("my-skill/a/x", "my-skill/A/y"), "case or accents"),
    "case of the top": (("my-skill/a", "My-Skill/b"), "case or accents"),
    "accents": (("my-skill/\u00e9", "my-skill/e\u0301"), "case or accents"),
    "sharp s": (("my-skill/ß", "my-skill/ss"), "case or accents"),
    "file then folder": (("my-skill/a", "my-skill/a/b"), "both as a file"),
    "folder then file": (("my-skill/a/b", "my-skill/a"), "both as a file"),
    "the manifest": (("my-skill/skill.MD", "my-skill/x"), "case or accents"),
}


@pytest.mark.parametrize("build", BUILDERS)
@pytest.mark.parametrize("label", PAIRS)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_meet_are_refused(label: str, build: Build, tmp_path: Path, place: Path) -> None:
    names, reason = PAIRS[label]
    assert reason in refused(build(tmp_path / "x.skill", *GOOD, *map(Item, names)), place)


SMALL = ArchiveLimits(file_bytes=2 << 20, total_bytes=3 << 20, ratio_from_bytes=1 << 20, ratio=200)


@pytest.mark.parametrize("build", BUILDERS)
def test_a_file_past_its_limit_is_refused(build: Build, tmp_path: Path, place: Path) -> None:
    noise = os.urandom(3 << 20)
    archive = build(tmp_path / "x.skill", *GOOD, Item("my-skill/big", noise))
    assert "more than 2 MiB" in refused(archive, place, limits=SMALL)


@pytest.mark.parametrize("build", BUILDERS)
def test_files_past_the_limit_together_are_refused(
    build: Build, tmp_path: Path, place: Path
) -> None:
    items = [Item(f"my-skill/{n}", os.urandom(1 << 20)) for n in range(4)]
    archive = build(tmp_path / "x.skill", *GOOD, *items)
    assert "more than 3 MiB" in refused(archive, place, limits=SMALL)


@pytest.mark.parametrize("build", BUILDERS)
def test_a_flat_bomb_is_refused_by_its_ratio(build: Build, tmp_path: Path, place: Path) -> None:
    archive = build(tmp_path / "x.skill", *GOOD, Item("my-skill/zeros", bytes(64 << 20)))
    assert archive.stat().st_size < 100_000
    assert "bomb" in refused(archive, place)


def test_a_nested_bomb_stays_a_file_that_nobody_opens(tmp_path: Path, place: Path) -> None:
    inner = zip_of(tmp_path / "inner.zip", Item("zeros", bytes(8 << 20))).read_bytes()
    for _ in range(3):
        inner = zip_of(
            tmp_path / "i.zip", *(Item(f"{n}.zip", inner) for n in range(5))
        ).read_bytes()
    archive = zip_of(tmp_path / "x.skill", *GOOD, Item("my-skill/assets/n.zip", inner))
    target = unpack(archive, place)
    assert (target / "assets/n.zip").read_bytes() == inner


def test_a_size_that_lies_small_is_found_by_counting(tmp_path: Path, place: Path) -> None:
    content = bytes(1 << 20)
    path = tmp_path / "x.zip"
    path.write_bytes(zip_bytes((b"my-skill/SKILL.md", deflated(content), 10, zlib.crc32(content))))
    assert "damaged" in refused(path, place)


def test_a_size_that_lies_large_is_found_by_counting(tmp_path: Path, place: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(
        zip_bytes((b"my-skill/SKILL.md", deflated(MANIFEST), 10_000, zlib.crc32(MANIFEST)))
    )
    assert "declares 10000 bytes" in refused(path, place)


def test_a_wrong_checksum_is_refused(tmp_path: Path, place: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(zip_bytes((b"my-skill/SKILL.md", deflated(MANIFEST), len(MANIFEST), 7)))
    assert "damaged" in refused(path, place)


def test_members_that_share_bytes_are_refused(tmp_path: Path, place: Path) -> None:
    # Two index entries for one local file: the trick by which a small zip becomes petabytes.
    whole = zip_bytes(
        (b"my-skill/SKILL.md", deflated(MANIFEST), len(MANIFEST), zlib.crc32(MANIFEST))
    )
    start = whole.index(b"PK\1\2")
    end = whole.index(b"PK\5\6")
    index = whole[start:end] * 2
    tail = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 2, 2, len(index), start, 0)
    path = tmp_path / "x.zip"
    path.write_bytes(whole[:start] + index + tail)
    assert "overlaps" in refused(path, place)


def test_a_hundred_thousand_entries_are_refused_at_once(tmp_path: Path, place: Path) -> None:
    many = [Item(f"my-skill/{n}", b"") for n in range(100_000)]
    assert "too many entries" in refused(
        zip_of(tmp_path / "x.skill", *GOOD, *many, compression=zipfile.ZIP_STORED), place
    )
    tar = tmp_path / "x.tar.gz"
    block = tarfile.TarInfo("my-skill/n").tobuf()
    with gzip.open(tar, "wb", compresslevel=1) as file:
        for _ in range(100):
            file.write(block * 1000)
        file.write(bytes(1024))
    assert "twice" in refused(tar, place)


def test_more_entries_than_allowed_are_refused(tmp_path: Path, place: Path) -> None:
    items = [Item(f"my-skill/{n}") for n in range(20)]
    for build in BUILDERS:
        archive = build(tmp_path / "x.skill", *GOOD, *items)
        assert "more than 10 entries" in refused(archive, place, limits=ArchiveLimits(entries=10))


def test_an_encrypted_member_is_refused(tmp_path: Path, place: Path) -> None:
    path = zip_of(tmp_path / "x.skill", *GOOD)
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\1\2")
    content[at + 8] |= 1
    path.write_bytes(content)
    assert "encrypted" in refused(path, place)


def test_an_odd_compression_is_refused(tmp_path: Path, place: Path) -> None:
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        path = zip_of(tmp_path / "x.skill", *GOOD, compression=method)
        assert "neither stored nor deflated" in refused(path, place)


@pytest.mark.parametrize("mode", ["zip", "w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive_cut_anywhere_is_refused(tmp_path: Path, place: Path, mode: str) -> None:
    items = (*GOOD, Item("my-skill/noise", os.urandom(3000)))
    path = tmp_path / "whole"
    whole = (
        zip_of(path, *items) if mode == "zip" else tar_of(path, *items, mode=mode)
    ).read_bytes()
    # A plain tar is padded with zeros after its end mark; those may go.
    last = len(whole.rstrip(b"\0")) if mode == "w" else len(whole) - 1
    for length in {0, 1, 100, 511, 512, 1024, last // 2, last - 600, last - 20, last}:
        cut = tmp_path / "cut.skill"
        cut.write_bytes(whole[: max(length, 0)])
        refused(cut, place)


def test_garbage_after_a_tar_member_is_refused(tmp_path: Path, place: Path) -> None:
    path = tar_of(tmp_path / "x.tar", *GOOD, mode="w")
    content = path.read_bytes().rstrip(b"\0")
    padded = content + bytes(-len(content) % 512)
    path.write_bytes(padded + b"garbage!" * 64 + bytes(1024))
    assert "no end mark" in refused(path, place)


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\3\4", b"hello", bytes(512), bytes(10240)])
def test_what_is_no_archive_is_refused(tmp_path: Path, place: Path, content: bytes) -> None:
    path = tmp_path / "x.skill"
    path.write_bytes(content)
    refused(path, place)


def test_a_pax_header_of_a_gigabyte_is_not_read(tmp_path: Path, place: Path) -> None:
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 1 << 30
    path = tmp_path / "x.tar"
    path.write_bytes(header.tobuf(tarfile.USTAR_FORMAT) + bytes(10_000))
    assert "header that is too large" in refused(path, place)


def test_a_gnu_long_name_of_a_gigabyte_is_not_read(tmp_path: Path, place: Path) -> None:
    header = tarfile.TarInfo("long")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    path = tmp_path / "x.tar"
    path.write_bytes(header.tobuf(tarfile.USTAR_FORMAT) + bytes(10_000))
    assert "header that is too large" in refused(path, place)


def test_endless_pax_headers_are_refused(tmp_path: Path, place: Path) -> None:
    header = tarfile.TarInfo("pax")
    record = b"11 path=ab\n"
    header.type, header.size = tarfile.XHDTYPE, len(record)
    path = tmp_path / "x.tar"
    one = header.tobuf(tarfile.USTAR_FORMAT) + record + bytes(512 - len(record))
    path.write_bytes(one * 5000)
    refused(path, place)


def test_a_sparse_file_is_refused(tmp_path: Path, place: Path) -> None:
    header = tarfile.TarInfo("my-skill/sparse")
    header.type = tarfile.GNUTYPE_SPARSE
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[386:482] = b"00000000000\0" * 8
    block[483:495] = b"77777777777\0"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    path = tar_of(tmp_path / "x.tar", *GOOD, mode="w")
    path.write_bytes(bytes(block) + path.read_bytes())
    assert "sparse" in refused(path, place)


def test_an_xz_stream_that_wants_gigabytes_of_memory_is_refused(
    tmp_path: Path, place: Path
) -> None:
    plain = tar_of(tmp_path / "plain.tar", *GOOD, mode="w").read_bytes()
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 192 << 20}]
    path = tmp_path / "x.tar.xz"
    path.write_bytes(lzma.compress(plain, format=lzma.FORMAT_XZ, filters=filters))
    assert "damaged" in refused(path, place)


def test_an_archive_that_is_a_pipe_does_not_hang(tmp_path: Path, place: Path) -> None:
    os.mkfifo(tmp_path / "x.skill")
    assert "not a regular file" in refused(tmp_path / "x.skill", place)


def test_an_archive_past_the_limit_is_not_opened(tmp_path: Path, place: Path) -> None:
    path = tmp_path / "x.skill"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    assert "larger than 512 MiB" in refused(path, place)


def test_memory_stays_small_whatever_comes_out(tmp_path: Path) -> None:
    # 200 MiB come out. VmHWM, since ru_maxrss starts with what the parent had.
    block = os.urandom(2 << 20)
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for item in (*GOOD, *(Item(f"my-skill/{n}", block) for n in range(100))):
            info = tarfile.TarInfo(item.name)
            info.size = len(item.content)
            archive.addfile(info, io.BytesIO(item.content))
    code = (
        "import re, sys; from pathlib import Path; from wardian.skills import unpack\n"
        "unpack(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "print(re.search('VmHWM:\\\\s+(\\\\d+)', Path('/proc/self/status').read_text())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path, tmp_path / "out"],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert int(done.stdout) < 80 * 1024


class TestExtractionIsAtomic:
    def test_an_existing_folder_is_never_touched(self, tmp_path: Path, place: Path) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD)
        (place / "my-skill").mkdir()
        with pytest.raises(SkillError, match="exists already"):
            unpack(archive, place)
        assert os.listdir(place) == ["my-skill"]
        assert os.listdir(place / "my-skill") == []

    def test_a_dangling_link_in_its_place_is_not_followed(
        self, tmp_path: Path, place: Path
    ) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD)
        (place / "my-skill").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(SkillError, match="exists already"):
            unpack(archive, place)
        assert not (tmp_path / "elsewhere").exists()

    def test_an_interruption_leaves_nothing(
        self, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD)
        written = []

        def interrupted(target: Path, chunks: Iterator[bytes], mode: int) -> None:
            written.append(target)
            if len(written) == 2:
                raise KeyboardInterrupt
            target.write_bytes(b"".join(chunks))

        monkeypatch.setattr(unpacking, "_write_file", interrupted)
        with pytest.raises(KeyboardInterrupt):
            unpack(archive, place / "new")
        assert len(written) == 2
        assert os.listdir(place) == []

    def test_folders_that_were_made_for_it_go_again(self, tmp_path: Path, place: Path) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD, Item("../evil"))
        with pytest.raises(SkillError):
            unpack(archive, place / "new" / "and" / "newer")
        archive = zip_of(tmp_path / "x.skill", Item("other/SKILL.md", MANIFEST))
        with pytest.raises(SkillError):
            unpack(archive, place / "new" / "and" / "newer")
        assert os.listdir(place) == []

    def test_a_full_disk_leaves_nothing(self, tmp_path: Path, place: Path) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD, Item("my-skill/big", os.urandom(1 << 20)))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
        try:
            assert "can't be unpacked" in refused(archive, place)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def test_an_archive_that_changes_between_the_passes_is_refused(
        self, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD)
        verify = unpacking.verify

        def then_changed(file: io.BufferedReader, limits: ArchiveLimits) -> str | None:
            top = verify(file, limits)
            zip_of(archive, *GOOD, Item("../evil"))
            return top

        monkeypatch.setattr(unpacking, "verify", then_changed)
        assert "climbs out" in refused(archive, place)


class TestWhatIsUnpackedIsASkill:
    def test_without_a_manifest_it_is_refused(self, tmp_path: Path, place: Path) -> None:
        assert "WS101" in refused(zip_of(tmp_path / "x.skill", Item("my-skill/a")), place)

    def test_two_folders_are_no_skill(self, tmp_path: Path, place: Path) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD, Item("other/SKILL.md", MANIFEST))
        assert "several folders" in refused(archive, place)

    def test_a_folder_of_another_name_is_refused_unless_lenient(
        self, tmp_path: Path, place: Path
    ) -> None:
        archive = zip_of(tmp_path / "x.skill", Item("other/SKILL.md", MANIFEST))
        assert "WS208" in refused(archive, place)
        assert unpack(archive, place, lenient=True) == place / "other"

    def test_a_manifest_at_the_top_takes_the_archives_name(
        self, tmp_path: Path, place: Path
    ) -> None:
        archive = zip_of(tmp_path / "my-skill.skill.zip", Item("SKILL.md", MANIFEST))
        assert load_skill(archive).diagnostics == ()
        assert unpack(archive, place) == place / "my-skill"

    def test_what_macos_adds_is_left_out(self, tmp_path: Path, place: Path) -> None:
        archive = zip_of(tmp_path / "x.zip", *GOOD, Item("__MACOSX/my-skill/._SKILL.md"))
        assert sorted(os.listdir(unpack(archive, place))) == ["SKILL.md", "scripts"]
        assert os.listdir(place) == ["my-skill"]

    def test_an_empty_archive_is_refused(self, tmp_path: Path, place: Path) -> None:
        assert "empty" in refused(zip_of(tmp_path / "x.skill"), place)
        assert "empty" in refused(tar_of(tmp_path / "x.tar.gz"), place)

    def test_a_bad_archive_is_a_finding_for_check(self, tmp_path: Path) -> None:
        archive = zip_of(tmp_path / "x.skill", *GOOD, Item("../evil"))
        assert [(one.code, one.severity) for one in check(archive)] == [("WS116", "error")]
        assert check(zip_of(tmp_path / "good.skill", *GOOD)) == []


def test_loading_an_archive_leaves_nothing_in_the_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    skill = load_skill(zip_of(tmp_path / "x.skill", *GOOD))
    assert [script.path for script in skill.scripts] == ["scripts/run.sh"]
    with pytest.raises(SkillError):
        load_skill(zip_of(tmp_path / "y.skill", Item("my-skill/SKILL.md", b"no")))
    assert os.listdir(tmp_path / "tmp") == []


def test_the_limits_are_what_the_documentation_says() -> None:
    limits = members.ArchiveLimits()
    assert (limits.entries, limits.total_bytes, limits.file_bytes) == (10_000, 1 << 30, 256 << 20)
