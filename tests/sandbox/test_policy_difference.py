"""Policies compared: what is told is so, by a model and by the kernel, and nothing is missed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import MakeSandbox
from wardian import Policy
from wardian.sandbox.policy.difference import DIMENSIONS, PolicyDifference, differences
from wardian.sandbox.policy.policy import Share, TlsRule
from wardian.sandbox.root.shares import is_below
from wardian.syscalls import lookup, rows

DEFAULT = Policy.default()


def plain(path: str) -> str:
    """No links in these tests' paths."""
    return path


def sharing(*shares: str) -> Policy:
    """``r/path:/at`` or ``w/path``."""
    return DEFAULT.with_shares(Share.parse(s[1:], write=s[0] == "w") for s in shares)


def told(a: Policy, b: Policy) -> list[str]:
    return [one.text for one in differences(a, b, plain)]


def files(a: Policy, b: Policy) -> dict[str, tuple[object, object]]:
    """What is told of access, by path; other places of the same are left out."""
    found = [one for one in differences(a, b, plain) if one.dimension == "files"]
    return {one.subject: (one.a, one.b) for one in found if one.more is not None}


Regions = dict[str, tuple[object, object] | None]


def told_regions(a: Policy, b: Policy) -> Regions:
    """What a reader of the sentences knows: paths with what each may do, None where it is equal."""
    found: Regions = dict(files(a, b))
    for text in told(a, b):
        if ", but for " in text:
            apart = text.partition(", but for ")[2].partition(";")[0]
            found |= dict.fromkeys(apart.split(", "))
    return found


def region(regions: Regions, path: str) -> tuple[object, object] | None:
    """What such a reader expects of a path: what the nearest one above it says."""
    around = [known for known in regions if is_below(path, known)]
    return regions[max(around, key=len)] if around else None


def test_equal_policies_do_not_differ() -> None:
    assert differences(DEFAULT, Policy.preset("default")) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("r/a",), ("r/a", "r/a/b")),
        (("w/a",), ("w/a", "w/a/b")),
        (("w/b",), ("r/b", "w/b")),
        (("r/a", "w/a:/x"), ("w/a",)),
        (("r/a:/x", "r/b:/x"), ("r/b:/x",)),
        ((), ("r/usr/share",)),
        ((), ("r/usr/share:/usr/share",)),
        (("r/a", "r/b"), ("r/b", "r/a")),
    ],
)
def test_what_is_implied_is_no_difference(a: tuple[str, ...], b: tuple[str, ...]) -> None:
    assert files(sharing(*a), sharing(*b)) == {}


@pytest.mark.parametrize(
    ("a", "b", "sentences"),
    [
        ((), ("r/opt/data",), ["B also lets the run read /opt/data"]),
        (("w/opt/data",), (), ["A also lets the run read and write /opt/data"]),
        (
            ("r/opt",),
            ("w/opt",),
            ["B also lets the run write /opt; A only lets it read that"],
        ),
        ((), ("r/opt/data:/mnt/d",), ["B also lets the run read /opt/data (at /mnt/d)"]),
        (
            ("r/a",),
            ("w/a/b",),
            [
                "A also lets the run read /a",
                "B also lets the run write /a/b; A only lets it read that",
            ],
        ),
        (
            ("r/a",),
            ("r/a", "r/b:/a/hidden"),
            [
                "A also lets the run read /a/hidden",
                "B also lets the run read /b (at /a/hidden)",
            ],
        ),
        (("r/a",), ("r/a/b",), ["A also lets the run read /a, but for /a/b"]),
        (("r/a:/x",), ("r/a:/y",), ["A shows /a at /x, B at /y"]),
        (("r/a:/x",), ("r/a:/y", "r/a/b:/y/b"), ["A shows /a at /x, B at /y"]),
        (
            (),
            ("r/opt:/usr/share/doc",),
            [
                "B also lets the run read /opt (at /usr/share/doc)",
                "A also lets the run read /usr/share/doc",
            ],
        ),
    ],
)
def test_files_are_told_in_words(
    a: tuple[str, ...], b: tuple[str, ...], sentences: list[str]
) -> None:
    assert told(sharing(*a), sharing(*b)) == sentences


def test_work_counts_as_a_share() -> None:
    worked = DEFAULT.but(work="/home/me/project")
    assert told(DEFAULT, worked) == [
        "B also lets the run read and write /home/me/project (at /work)"
    ]
    assert told(sharing("w/home/me/project:/work"), worked) == []


def test_another_root_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "usr").mkdir()
    rooted = DEFAULT.but(rootfs=str(tmp_path))
    assert told(DEFAULT, rooted) == [
        f"A has the host's own /usr, B the root file system {tmp_path}"
    ]
    both = [policy.with_shares([Share("/usr/share", "/s")]) for policy in (DEFAULT, rooted)]
    assert "B also lets the run read /usr/share" not in " ".join(told(*both))


def test_links_are_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    one = DEFAULT.with_shares([Share(str(tmp_path / "real"), "/x")])
    two = DEFAULT.with_shares([Share(str(tmp_path / "link"), "/x")])
    assert differences(one, two) == []


@pytest.mark.parametrize(
    ("a", "b", "sentences"),
    [
        (
            DEFAULT,
            DEFAULT.but(network="host"),
            ["A gives the run no network but a loopback of its own; "
             "B the host's network, all of it"],
        ),
        (
            DEFAULT,
            DEFAULT.but(pass_env=(*DEFAULT.pass_env, "AWS_PROFILE")),
            ["B also passes the caller's AWS_PROFILE"],
        ),
        (DEFAULT.with_env({"A": "1"}), DEFAULT, ["A also sets A to '1'"]),
        (
            DEFAULT.with_env({"A": "1"}),
            DEFAULT.with_env({"A": "2"}),
            ["A sets A to '1'; B sets A to '2'"],
        ),
        (
            DEFAULT.with_env({"TZ": "UTC"}),
            DEFAULT,
            ["A sets TZ to 'UTC'; B passes the caller's TZ"],
        ),
        (
            DEFAULT,
            DEFAULT.with_limits(memory_bytes=512 << 20, time_s=None),
            ["A allows 10m by the clock, B sets no limit on time",
             "A allows 4G of memory, B 512M"],
        ),
        (
            DEFAULT.with_limits(processes=None),
            DEFAULT.with_limits(processes=64, files=32),
            ["A sets no limit on processes, B allows 64 processes",
             "A allows 512 open files in one process, B 32"],
        ),
        (
            DEFAULT,
            DEFAULT.but(landlock_abi=0),
            ["A insists on Landlock ABI 1, B wants no Landlock"],
        ),
        (
            DEFAULT,
            DEFAULT.but(degrade=("landlock",)),
            ["B gives up the wall landlock; A keeps it"],
        ),
        (
            DEFAULT.but(degrade=("landlock", "landlock.refer")),
            DEFAULT.but(degrade=("landlock",)),
            [],
        ),
        (
            DEFAULT.but(degrade=("landlock.refer", "notify")),
            DEFAULT.but(degrade=("notify",)),
            ["A gives up the wall landlock.refer; B keeps it"],
        ),
        (DEFAULT, DEFAULT.but(allow_syscalls=("read",)), []),
        (DEFAULT, DEFAULT.but(deny_syscalls=("mount",)), []),
        (
            DEFAULT,
            DEFAULT.but(allow_syscalls=("mount",)),
            [f"B also allows mount: {lookup('mount').reason}"],
        ),
        (
            DEFAULT,
            DEFAULT.but(deny_syscalls=("socket",)),
            [f"A also allows socket with some arguments: {lookup('socket').reason}"],
        ),
        (
            DEFAULT,
            DEFAULT.but(allow_syscalls=("ioctl",)),
            [f"B allows ioctl with any arguments, A with some: {lookup('ioctl').reason}"],
        ),
    ],
)  # fmt: skip
def test_the_other_dimensions_are_told_in_words(a: Policy, b: Policy, sentences: list[str]) -> None:
    if "socket" in b.deny_syscalls and lookup("socket").kind != "when":
        sentences = [f"A also allows socket: {lookup('socket').reason}"]
    assert told(a, b) == sentences


def test_every_syscall_can_be_compared() -> None:
    for row in rows():
        allowed, denied = (
            DEFAULT.but(allow_syscalls=(row.name,)),
            DEFAULT.but(deny_syscalls=(row.name,)),
        )
        (one,) = differences(denied, allowed)
        assert (one.subject, one.more) == (row.name, "b")
        assert row.reason in one.text


# Against a model that is slow and plain: every path, every share


NAMES = ("a", "b", "c")
PATHS = [f"/{x}" for x in NAMES] + [f"/{x}/{y}" for x in NAMES for y in NAMES]
PATHS += [f"{path}/{z}" for path in PATHS if path.count("/") == 2 for z in NAMES]


def model(policy: Policy, path: str) -> int:
    """The most that any place inside lets the guest do to a path of the host."""
    best = 0
    for share in policy.shares:
        if not is_below(path, share.path):
            continue
        place = share.at + path[len(share.path) :]
        around = [other for other in policy.shares if is_below(place, other.at)]
        deepest = max(len(other.at) for other in around)
        winner = [other for other in around if len(other.at) == deepest][-1]
        if winner == share:
            best = max(best, 2 if share.write else 1)
    return best


shares = st.builds(
    Share,
    st.sampled_from(PATHS),
    st.sampled_from(PATHS),
    st.booleans(),
)
policies = st.lists(shares, max_size=4).map(lambda some: Policy(shares=tuple(some)))


@settings(max_examples=400, deadline=None)
@given(policies, policies)
def test_every_path_that_differs_is_told_and_no_other(a: Policy, b: Policy) -> None:
    access = ("nothing", "read", "write")
    regions = told_regions(a, b)
    for path in PATHS:
        levels = access[model(a, path)], access[model(b, path)]
        assert region(regions, path) == (levels if levels[0] != levels[1] else None)


@settings(max_examples=100, deadline=None)
@given(policies, policies)
def test_the_other_way_round_the_same_is_told(a: Policy, b: Policy) -> None:
    def turned(one: PolicyDifference) -> tuple[object, ...]:
        return one.dimension, one.subject, {"a": "b", "b": "a", None: None}[one.more], one.b, one.a

    there, back = differences(a, b, plain), differences(b, a, plain)
    assert sorted(map(turned, there), key=repr) == sorted(
        ((one.dimension, one.subject, one.more, one.a, one.b) for one in back), key=repr
    )
    assert differences(a, a, plain) == []


# Against the kernel


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("r{0}",), ("r{0}/d",)),
        (("r{0}:/m",), ("w{0}/d:/m/d", "r{0}:/m")),
        (("w{0}:/m",), ("w{0}:/m", "r{0}/e:/m/d")),
        (("r{0}/d:/x",), ("w{0}/d:/y",)),
        ((), ("r{0}/f:/mnt/f",)),
        (("w{0}",), ("w{0}", "r{0}/d/g")),
    ],
)
def test_what_is_told_is_what_the_kernel_does(
    make_sandbox: MakeSandbox, tmp_path: Path, a: tuple[str, ...], b: tuple[str, ...]
) -> None:
    host = [tmp_path / name for name in ("f", "d/g", "e/g")]
    for path in host:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"this is {path}\n")
    policies = [sharing(*(share.format(tmp_path) for share in shares)) for shares in (a, b)]
    regions = told_regions(*policies)
    for path in host:
        real = tuple(_kernel(make_sandbox, policy, path) for policy in policies)
        assert region(regions, str(path)) == (real if real[0] != real[1] else None)


def _kernel(make_sandbox: MakeSandbox, policy: Policy, path: Path) -> str:
    """What a guest can do to this file of the host, at any place: tried."""
    best = "nothing"
    for share in policy.shares:
        if not is_below(str(path), share.path):
            continue
        place = share.at + str(path)[len(share.path) :]
        before = path.stat().st_mtime_ns
        result = make_sandbox(policy).run(
            ["sh", "-c", 'cat "$1" && (echo x >> "$1") 2>/dev/null && echo wrote', "-", place]
        )
        if result.text.endswith("wrote\n") and path.stat().st_mtime_ns != before:
            return "write"
        if result.text.startswith(f"this is {path}\n"):
            best = "read"
    return best


def test_dimensions_are_told_in_their_order() -> None:
    wide = DEFAULT.but(
        network="host", landlock_abi=0, degrade=("notify",), allow_syscalls=("mount",), explain=True
    )
    wide = wide.with_env({"A": "1"}).with_limits(files=7).with_shares([Share("/opt", "/opt")])
    found = [one.dimension for one in differences(DEFAULT, wide)]
    assert found == list(DIMENSIONS)


OTHERS = {
    "shares": (Share("/opt", "/opt"),),
    "work": "/opt",
    "rootfs": "/opt",
    "network": "host",
    "allow_hosts": ("example.com",),
    "deny_hosts": ("example.com",),
    "max_connections": 3,
    "max_per_second": None,
    "max_sent_bytes": 1 << 20,
    "max_received_bytes": 1 << 20,
    "tls": (TlsRule("example.com"),),
    "interface": True,
    "explain": True,
    "pass_env": ("A",),
    "base": ("/usr/bin",),
    "set_env": (("A", "b"),),
    "allow_syscalls": ("mount",),
    "deny_syscalls": ("read",),
    "landlock_abi": 7,
    "degrade": ("notify",),
}


def test_no_field_of_a_policy_is_overlooked() -> None:
    """A new field fails here until it is compared, and has another value above."""
    assert {*OTHERS, "limits"} == set(Policy._fields)
    for field, value in OTHERS.items():
        assert differences(Policy(), Policy()._replace(**{field: value}), plain), field
    for field in Policy().limits._fields:
        assert differences(Policy(), Policy().with_limits(**{field: 1}), plain), field


def test_a_copy_that_can_be_changed_is_told_apart_from_what_is_read_only() -> None:
    copy = DEFAULT.with_shares([Share("/srv/x", "/x", copy=True)])
    assert told(sharing("r/srv/x:/x"), copy) == ["B lets the run change a copy of /srv/x at /x"]
    assert told(copy, copy) == []


def test_rules_for_requests_are_compared_by_host() -> None:
    names = Policy(network="names", allow_hosts=("a.example.com",))
    get, post = TlsRule("a.example.com", ("GET",)), TlsRule("a.example.com", ("POST",))

    def more(a: Policy, b: Policy) -> list[str | None]:
        return [one.more for one in differences(a, b, plain)]

    assert more(names, names.but(tls=(get,))) == ["a"]  # without rules any request goes
    assert more(names.but(tls=(get,)), names.but(tls=(get, post))) == ["b"]
    assert more(names.but(tls=(get,)), names.but(tls=(post,))) == [None]
    other = TlsRule("b.example.com", ("GET",))
    assert more(names, names.but(tls=(other,))) == ["b"]  # which is not reached at all otherwise
    assert told(names, names.but(tls=(other,))) == [
        'to b.example.com, A allows nothing; B {methods = ["GET"]}'
    ]
