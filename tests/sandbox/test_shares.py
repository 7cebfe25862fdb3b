"""What may be shared, where it stands inside, and that nothing leads out of it."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

import wardian
from tests.conftest import MakeSandbox
from wardian import Policy, Result, Sandbox, Share
from wardian.errors import SandboxError, ShareError
from wardian.sandbox.paths.own_files import Own
from wardian.sandbox.root.shares import is_below, resolve_shares

PACKAGE = os.path.dirname(wardian.__file__)


def share(*texts: str, write: bool = False) -> list[Share]:
    return [Share.parse(text, write=write) for text in texts]


def sandbox_with(
    make: MakeSandbox, *shares: Share, work: Path | None = None, fresh: bool = False
) -> Sandbox:
    policy = Policy.default().with_shares(shares)
    return make(policy.but(work=str(work)) if work else policy, fresh=fresh)


def shell(sandbox: Sandbox, script: str) -> Result:
    return sandbox.run(["sh", "-c", script])


# Decided before anything starts


@pytest.mark.parametrize(
    ("path", "root", "below"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/c", "/a/b", True),
        ("/a/bc", "/a/b", False),
        ("/a/b", "/a/bc", False),
        ("/a", "/a/b", False),
        ("/x", "/", True),
    ],
)
def test_below_goes_by_whole_names(path: str, root: str, below: bool) -> None:
    assert is_below(path, root) is below


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/", "whole host"),
        ("/:/mnt", "whole host"),
        ("/proc", "/proc"),
        ("/proc/self", "/proc"),
        ("/sys", "/sys"),
        ("/sys/kernel:/mnt", "/sys"),
        ("/dev", "/dev"),
        ("/dev/null:/mnt/null", "only directories, files and sockets"),
        ("/dev/shm:/mnt/shm", "/dev"),
        ("/tmp:/usr", "covers /usr"),
        ("/tmp:/", "covers /usr"),
        ("/tmp:/proc", "/proc"),
        ("/tmp:/proc/sys/kernel", "/proc"),
        ("/tmp:/sys/fs", "/sys"),
        ("/tmp:/dev/x", "/dev"),
        ("/tmp:/etc", "/etc"),
        ("/tmp:/lib", "/lib"),
        ("/tmp:/bin", "/bin"),
        ("/no/such/path", "no such file"),
        (f"{PACKAGE}/_bin", "wardian's own files"),
        (f"{PACKAGE}/_bin/wardian-launch:/mnt/l", "wardian's own files"),
    ],
)
@pytest.mark.parametrize("write", [False, True])
def test_what_would_undo_the_sandbox_is_refused_with_the_reason(
    text: str, words: str, write: bool
) -> None:
    with pytest.raises(ShareError) as caught:
        resolve_shares(share(text, write=write))
    assert words in str(caught.value)
    assert caught.value.exit_code == 125


@pytest.mark.parametrize("process", ["1", "self"])
def test_the_root_of_a_process_is_refused_by_where_it_leads(process: str) -> None:
    """That is the host's root, or nothing that this user may know."""
    with pytest.raises(ShareError, match=r"whole host|/proc") as caught:
        resolve_shares(share(f"/proc/{process}/root:/mnt", write=False))
    assert caught.value.exit_code == 125


@pytest.mark.parametrize("text", [PACKAGE, f"{PACKAGE}/sandbox:/mnt/s", sys.prefix])
def test_wardian_itself_is_never_writable(text: str) -> None:
    if text == sys.prefix and sys.prefix == sys.base_prefix:
        pytest.skip("the tests do not run in a venv")
    with pytest.raises(ShareError, match="own files"):
        resolve_shares(share(text, write=True))


def test_above_wardian_is_writable_but_wardian_is_not(tmp_path: Path) -> None:
    own = tmp_path / "project/venv/lib/wardian"
    own.mkdir(parents=True)
    sources = resolve_shares(share(f"{tmp_path}:/mnt/p", write=True), own=Own((str(own),)))
    places = [(s.at, s.write) for s in sources]
    assert places[0] == ("/mnt/p", True)
    assert places[-1] == ("/mnt/p/project/venv/lib/wardian", False)


def test_the_link_that_names_a_share_is_resolved_once(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    assert [(s.path, s.at) for s in resolve_shares(share(str(link)))] == [(str(real), str(link))]
    assert resolve_shares(share(f"{link}:/in"))[0].path == str(real)
    link.unlink()
    link.symlink_to("/proc")
    with pytest.raises(ShareError, match="/proc"):
        resolve_shares(share(f"{link}:/in"))


def test_odd_kinds_of_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ShareError, match="only directories, files and sockets"):
        resolve_shares(share(str(tmp_path / "fifo")))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ShareError, match="symbolic links"):
        resolve_shares(share(str(tmp_path / "loop")))


def test_an_unreadable_share_is_named(tmp_path: Path, as_root: bool) -> None:
    if as_root:
        pytest.skip("root may read everything")
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(ShareError, match="closed: permission denied"):
        resolve_shares(share(str(tmp_path / "closed")))


def test_a_place_that_would_have_to_be_created_in_a_share_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outer").mkdir()
    (tmp_path / "inner").mkdir()
    shares = share(f"{tmp_path}/outer:/in", f"{tmp_path}/inner:/in/sub")
    with pytest.raises(ShareError, match="would have to be created") as caught:
        resolve_shares(shares)
    assert f"{tmp_path}/inner:/mnt/inner" in (caught.value.hint or "")
    (tmp_path / "outer/sub").mkdir()
    assert [s.at for s in resolve_shares(shares)] == ["/in", "/in/sub"]


# Seen from inside


def test_read_shares_can_be_read_and_not_written(tmp_path: Path, make_sandbox: MakeSandbox) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_text("content")
    (tmp_path / "d").chmod(0o777)
    (tmp_path / "d/f").chmod(0o666)
    sandbox = sandbox_with(make_sandbox, Share(f"{tmp_path}/d", "/in"))
    assert shell(sandbox, "cat /in/f").text == "content"
    for attempt in (
        "echo x > /in/f",
        "echo x > /in/g",
        "rm /in/f",
        "mv /in/f /in/g",
        "mkdir /in/h",
    ):
        assert shell(sandbox, attempt).exit_code != 0, attempt
    for attempt in ("chmod 600 /in/f", "ln /in/f /tmp/g", "touch -d @1 /in/f"):
        assert shell(sandbox, attempt).exit_code != 0, attempt
    assert [entry.name for entry in (tmp_path / "d").iterdir()] == ["f"]


def test_write_shares_can_be_written_and_what_comes_is_the_caller_s(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    (tmp_path / "d").mkdir()
    sandbox = sandbox_with(make_sandbox, Share(f"{tmp_path}/d", "/out", True))
    assert shell(sandbox, "mkdir /out/sub && echo hi > /out/sub/f && ln -s f /out/sub/l").ok
    assert (tmp_path / "d/sub/f").read_text() == "hi\n"
    info = (tmp_path / "d/sub/f").stat()
    assert (info.st_uid, info.st_gid) == (os.geteuid(), os.getegid())
    # …and the owner stays who it was for the guest too.
    assert shell(sandbox, "test -O /out/sub/f && chmod 600 /out/sub/f && rm -r /out/sub").ok


def test_a_link_inside_a_share_does_not_lead_out(tmp_path: Path, make_sandbox: MakeSandbox) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "d/up").symlink_to("../secret")
    (tmp_path / "d/absolute").symlink_to(tmp_path / "secret")
    (tmp_path / "d/shadow").symlink_to("/etc/shadow")
    (tmp_path / "d/within").symlink_to("real")
    (tmp_path / "d/real").write_text("real")
    for write in (False, True):
        sandbox = sandbox_with(make_sandbox, Share(f"{tmp_path}/d", "/in", write))
        for name in ("up", "absolute", "shadow", "../secret"):
            result = shell(sandbox, f"cat /in/{name}")
            assert result.exit_code == 1, name
            assert result.stdout == b""
        assert shell(sandbox, "cat /in/within").text == "real"


def test_a_neighbour_with_a_longer_name_is_not_shared(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    for name in ("b", "bc"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text(name)
    sandbox = sandbox_with(make_sandbox, Share(f"{tmp_path}/b", f"{tmp_path}/b", True))
    assert shell(sandbox, f"cat {tmp_path}/b/f").text == "b"
    assert shell(sandbox, f"cat {tmp_path}/bc/f").exit_code == 1
    assert shell(sandbox, f"ls {tmp_path}").text == "b\n"


def test_a_read_only_share_inside_a_writable_one_stays_read_only(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    (tmp_path / "w/keep").mkdir(parents=True)
    (tmp_path / "w/keep/f").write_text("kept")
    sandbox = sandbox_with(
        make_sandbox,
        Share(f"{tmp_path}/w/keep", "/out/keep"),
        Share(f"{tmp_path}/w", "/out", True),
    )
    assert shell(sandbox, "echo new > /out/f").ok
    assert shell(sandbox, "echo new > /out/keep/f").exit_code != 0
    assert shell(sandbox, "mv /out/keep /out/away || rm -rf /out/keep/f").exit_code != 0
    assert (tmp_path / "w/keep/f").read_text() == "kept"


def test_a_share_deep_in_a_read_only_one_opens_nothing_around_it(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    (tmp_path / "kept/a/b").mkdir(parents=True)
    shares = [("", True), ("/kept", False), ("/kept/a/b", False)]
    sandbox = sandbox_with(
        make_sandbox, *(Share(f"{tmp_path}{path}", f"/in{path}", write=w) for path, w in shares)
    )
    places = ["/in/kept", "/in/kept/a", "/in/kept/a/b"]
    for place in places:
        assert not shell(sandbox, f"touch {place}/x || mv {place} /in/moved").ok, place
    assert shell(sandbox, "touch /in/x").ok
    found = [sorted(os.listdir(tmp_path / one)) for one in ("kept", "kept/a", "kept/a/b")]
    assert found == [["a"], ["b"], []]


def test_a_writable_share_inside_a_read_only_one_is_writable(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    (tmp_path / "r/out").mkdir(parents=True)
    sandbox = sandbox_with(
        make_sandbox, Share(f"{tmp_path}/r", "/in"), Share(f"{tmp_path}/r/out", "/in/out", True)
    )
    assert shell(sandbox, "echo x > /in/out/f").ok
    assert shell(sandbox, "echo x > /in/f").exit_code != 0


def test_single_files_are_shared_alone(tmp_path: Path, make_sandbox: MakeSandbox) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    sandbox = sandbox_with(
        make_sandbox,
        Share(f"{tmp_path}/one", "/data/one"),
        Share(f"{tmp_path}/two", f"{tmp_path}/two", True),
    )
    assert shell(sandbox, "cat /data/one").text == "one"
    assert shell(sandbox, "echo x > /data/one").exit_code != 0
    assert shell(sandbox, f"echo changed > {tmp_path}/two && ls {tmp_path}").text == "two\n"
    assert (tmp_path / "two").read_text() == "changed\n"


def test_a_shared_socket_can_be_talked_to(tmp_path: Path, make_sandbox: MakeSandbox) -> None:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "s"))
    (tmp_path / "s").chmod(0o666)
    server.listen()
    server.settimeout(30)
    program = "import socket; s = socket.socket(1); s.connect('/run/s'); s.sendall(b'hello')"
    sandbox = sandbox_with(make_sandbox, Share(f"{tmp_path}/s", "/run/s", True))
    result = sandbox.run([os.path.realpath(sys.executable), "-c", program])
    assert result.exit_code == 0, result.stderr
    with server:
        peer, _ = server.accept()
        with peer:
            assert peer.recv(10) == b"hello"


def test_the_work_directory_is_the_current_one(tmp_path: Path, make_sandbox: MakeSandbox) -> None:
    sandbox = sandbox_with(make_sandbox, work=tmp_path)
    assert shell(sandbox, "pwd; echo x > f").text == "/work\n"
    assert (tmp_path / "f").read_text() == "x\n"


def test_a_share_can_stand_in_tmp_home_and_var(tmp_path: Path, make_sandbox: MakeSandbox) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_text("x")
    places = ("/tmp/in", "/home/user/in", "/var/lib/in", "/opt/in", "/home/other", "/dev/shm/in")
    sandbox = sandbox_with(make_sandbox, *(Share(f"{tmp_path}/d", place) for place in places))
    for place in places:
        assert shell(sandbox, f"cat {place}/f").text == "x", place
    assert shell(sandbox, "echo x > /tmp/g && echo x > ~/g").ok


def test_a_share_that_vanishes_between_two_runs_is_named(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    (tmp_path / "d").mkdir()
    sandbox = sandbox_with(make_sandbox, Share(f"{tmp_path}/d", "/in"), fresh=True)
    assert shell(sandbox, "true").ok
    (tmp_path / "d").rmdir()
    with pytest.raises(ShareError, match=f"{tmp_path}/d"):
        shell(sandbox, "true")


def test_a_share_that_turns_into_a_link_is_not_followed(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "secret").mkdir()
    sandbox = sandbox_with(make_sandbox, Share(f"{tmp_path}/d", "/in"), fresh=True)
    assert shell(sandbox, "true").ok
    (tmp_path / "d").rmdir()
    (tmp_path / "d").symlink_to(tmp_path / "secret")
    with pytest.raises(ShareError):
        shell(sandbox, "ls /in")


def test_a_guest_that_plants_a_link_can_t_steer_a_later_mount(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    """The next run's nested share lands where the policy says, or nowhere."""
    (tmp_path / "w/sub").mkdir(parents=True)
    (tmp_path / "ro").mkdir()
    inner, outer = Share(f"{tmp_path}/ro", "/out/sub"), Share(f"{tmp_path}/w", "/out", True)
    assert shell(sandbox_with(make_sandbox, outer), "rmdir /out/sub && ln -s /tmp /out/sub").ok
    with pytest.raises(SandboxError):
        shell(sandbox_with(make_sandbox, outer, inner), "true")


def test_names_with_spaces_colons_newlines_and_odd_bytes_work(
    tmp_path: Path, make_sandbox: MakeSandbox
) -> None:
    for name in ("a b", "a:b", "a\nb", "ü", os.fsdecode(b"\xff\xfe"), "-rf", "x" * 200):
        odd = tmp_path / name
        odd.mkdir()
        (odd / "f").write_text("odd")
        sandbox = sandbox_with(make_sandbox, Share(str(odd), str(odd)))
        assert sandbox.run(["cat", f"{odd}/f"]).text == "odd", name
