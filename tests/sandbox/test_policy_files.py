"""Policy files: what is wrong is told with file, line, column and a way out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wardian import Limits, Policy, Share
from wardian.errors import PolicyError
from wardian.sandbox.policy.file import preset_names, read_preset
from wardian.syscalls import rows


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "policy.toml"


WRONG = [
    # text, line, column, words of the message, words of the hint
    ("[filez]\nread = []", 1, 1, "unknown table [filez]", "did you mean 'files'?"),
    ("[zzz]\n", 1, 1, "unknown table [zzz]", "known: "),
    ("[limits]\ntime = '1s'\nmemroy = '1G'", 3, 1, "unknown key 'memroy'", "'memory'"),
    ("[limits]\n  xyz = 1", 2, 3, "unknown key 'xyz' in [limits]", "known: "),
    ("limits.memroy = '1G'", 1, 1, "unknown key 'memroy'", "'memory'"),
    ("files = 3", 1, 1, "files must be a table: write [files]", ""),
    ("[limits]\nmemory = []", 2, 1, "expected a string or a number", ""),
    ("[limits]\nmemory = true", 2, 1, "expected a string or a number", ""),
    ("[limits]\nmemory = 'lots'", 2, 1, "'lots' is not a size; write 512M", ""),
    ("[limits]\ntime = '5 parsecs'", 2, 1, "is not a duration; write 30s", ""),
    ("[limits]\nprocesses = 1.5", 2, 1, "is not a number above 0; write 64", ""),
    ("[limits]\nprocesses = 0", 2, 1, "is not a number above 0", ""),
    ("[limits]\ntime = -1", 2, 1, "is not a duration", ""),
    ("[limits]\ntime = inf", 2, 1, "is not a duration", ""),
    ("[network]\nmode = 'all'", 2, 1, "'all' is not a network mode; write none, names or host", ""),
    ("[network]\nmode = ['none']", 2, 1, "is not a network mode", ""),
    ("[network]\nmode = 'host'\nmax_sent = '1M'", 3, 1, "cannot be combined", "network by name"),
    ("[network]\nmax_connections = 0", 2, 1, "is not a number above 0", ""),
    ("[network]\nmax_received = 'lots'", 2, 1, "'lots' is not a size", ""),
    ("[files]\nread = '/tmp'", 2, 1, 'expected a list of strings, such as ["a", "b"]', ""),
    ("[files]\nread = ['/tmp', 3]", 2, 1, "expected a list of strings", ""),
    ("[files]\nread = ['relative/path']", 2, 10, "'relative/path' is not an absolute path", ""),
    ("[files]\nread = [\n  '/tmp',\n  '/no/such/thing',\n]", 4, 4, "/no/such/thing does not", ""),
    ("[files]\nwrite = ['/no/such:/x']", 2, 11, "/no/such does not exist", ""),
    ("[files]\nwork = '/no/such'", 2, 9, "/no/such does not exist", ""),
    ("[files]\nwork = 3", 2, 1, "expected a string", ""),
    ("[files]\nbase = '/usr'", 2, 1, "expected a list of strings", ""),
    ("[files]\nbase = ['usr/bin']", 2, 10, "'usr/bin' is not an absolute path without dots", ""),
    ("[files]\nbase = ['/usr/../etc']", 2, 10, "is not an absolute path without dots", ""),
    ("[files]\nbase = ['/']", 2, 10, "no part of the /usr and /etc", ""),
    ("[files]\nbase = ['/etc']", 2, 10, "no part of the /usr and /etc", ""),
    ("[files]\nbase = [\n  '/usr/bin',\n  '/etc/shadow',\n]", 4, 4, "no part", "read = ["),
    ("[files]\nbase = ['/usr/no/such']", 2, 10, "no part of the /usr and /etc", "read = ["),
    ("[files]\nbase = ['/usr']\nrootfs = '/tmp'", 2, 1, "cannot be combined", ""),
    ("[environment]\nonly = 'A'", 2, 1, "expected a list of strings", ""),
    ("[syscalls]\nonly = ['opennat']", 2, 1, "opennat", "openat"),
    ("[syscalls]\ndeny = ['sendmsg']", 2, 1, "sendmsg can't be denied", ""),
    ("[environment]\npass = ['A=B']", 2, 1, "can't be the name of an environment variable", ""),
    ("[environment]\nset = {A = 3}", 2, 1, "expected a table of strings", ""),
    ("[environment]\nset = {'' = 'x'}", 2, 1, "can't be the name", ""),
    ("[environment.set]\nA = 3", 1, 1, "expected a table of strings", ""),
    ("[syscalls]\nallow = ['opennat']", 2, 1, "opennat", "openat"),
    ("[syscalls]\ndebug = 'yes'", 2, 1, "expected true or false", ""),
    ("[network]\ninterface = 1", 2, 1, "expected true or false", ""),
    ("[refusals]\nexplain = 1", 2, 1, "expected true or false", ""),
    ("[landlock]\nabi = 'new'", 2, 1, "expected a Landlock ABI version", ""),
    ("[landlock]\nabi = -1", 2, 1, "expected a Landlock ABI version", ""),
    ("[protections]\ndegrade = ['landlok']", 2, 1, "landlok", "landlock"),
    ("[protections]\ndegrade = 'notify'", 2, 1, "expected a list of strings", ""),
    ("[files\nread = []", 1, 7, "", ""),
    ("[limits]\ntime = ", 2, 8, "", ""),
    ("[limits]\ntime = 1\ntime = 2", 3, 9, "", ""),
]


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), WRONG)
def test_what_is_wrong_is_pointed_at(
    text: str, line: int, column: int, message: str, hint: str, file: Path
) -> None:
    file.write_text(text)
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(file)
    error = caught.value
    assert (error.line, error.column) == (line, column), str(error)
    assert str(error).startswith(f"{file}:{line}:{column}: ")
    assert message in str(error)
    assert hint in (error.hint or "") or hint in str(error)
    assert error.exit_code == 125


def test_a_key_behind_a_comment_or_in_a_string_is_not_mistaken(file: Path) -> None:
    file.write_text(
        "# memory = []\n[environment]\nset = {X = 'memory = []'}\n[limits]\nmemory = []"
    )
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(file)
    assert (caught.value.line, caught.value.column) == (5, 1)


def test_files_that_are_no_files_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.toml")
    (tmp_path / "dir.toml").mkdir()
    (tmp_path / "binary.toml").write_bytes(b"[files]\n\xff\xfe")
    (tmp_path / "large.toml").write_bytes(b"#" * (2 << 20))
    for name, words in (
        ("fifo.toml", "regular file"),
        ("dir.toml", "directory"),
        ("binary.toml", "not UTF-8"),
        ("large.toml", "larger than"),
        ("missing.toml", "No such file"),
    ):
        with pytest.raises(PolicyError, match=words) as caught:
            Policy.from_toml(tmp_path / name)
        assert name in str(caught.value)


def test_a_file_stands_on_the_default_and_adds_to_it(file: Path, tmp_path: Path) -> None:
    file.write_text(f"[files]\nread = ['{tmp_path}:/in']\n[limits]\ntime = '5s'\nmemory = 'none'\n")
    policy = Policy.from_toml(file)
    default = Policy.default()
    assert policy.shares == (Share(str(tmp_path), "/in"),)
    assert policy.limits == default.limits._replace(time_s=5.0, memory_bytes=None)
    assert policy.pass_env == default.pass_env


def test_every_preset_can_be_read_and_an_unknown_one_is_told() -> None:
    for name in preset_names():
        assert isinstance(read_preset(name), Policy)
    with pytest.raises(PolicyError) as caught:
        Policy.preset("defualt")
    assert "default" in (caught.value.hint or "")


names = st.text("ABCXYZ_abc019é-. ", min_size=1, max_size=8)
values = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
places = st.sampled_from(["/in", "/mnt/a b", '/q"uote', "/back\\slash", "/ü", "/tab\there"])
policies = st.builds(
    Policy,
    shares=st.lists(
        st.builds(Share, st.sampled_from(["/tmp", "/usr/lib"]), places, st.booleans()),
        max_size=3,
        unique_by=lambda share: share.at,
    ).map(tuple),
    work=st.sampled_from([None, "/tmp"]),
    network=st.sampled_from(["none", "host"]),
    pass_env=st.lists(names, max_size=3, unique=True).map(tuple),
    set_env=st.dictionaries(names, values, max_size=3).map(lambda d: tuple(sorted(d.items()))),
    limits=st.builds(
        Limits,
        time_s=st.none() | st.floats(0.001, 1e6).map(lambda s: round(s, 3)),
        cpu_s=st.none() | st.integers(1, 10**6).map(float),
        memory_bytes=st.none() | st.integers(1, 1 << 50),
        processes=st.none() | st.integers(1, 1 << 30),
        files=st.none() | st.integers(1, 1 << 30),
        disk_bytes=st.none() | st.integers(1, 1 << 50),
        output_bytes=st.none() | st.integers(1, 1 << 50),
    ),
    allow_syscalls=st.lists(
        st.sampled_from([row.name for row in rows()][:50]), max_size=2, unique=True
    ).map(tuple),
    base=st.sampled_from([None, (), ("/usr/bin", "/usr/lib")]),
    landlock_abi=st.integers(0, 8),
    degrade=st.sampled_from([(), ("notify",), ("landlock.refer", "proc")]),
    interface=st.booleans(),
    explain=st.booleans(),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(policy=policies)
def test_a_written_policy_is_read_back_as_the_same(policy: Policy, file: Path) -> None:
    file.write_text(policy.to_toml(), encoding="utf-8")
    # A file lists what may be read apart from what may be written.
    shares = tuple(sorted(policy.shares, key=lambda share: share.write))
    assert Policy.from_toml(file, base=Policy()) == policy.but(shares=shares)
    assert Policy.from_toml(file) == policy.but(shares=shares)


def test_debug_allows_what_debuggers_need_and_overrules_a_refusal(file: Path) -> None:
    file.write_text("[syscalls]\ndebug = true")
    asked = Policy.from_toml(file, base=Policy(deny_syscalls=("ptrace", "mount")))
    assert asked.allow_syscalls == ("ptrace", "process_vm_readv", "process_vm_writev")
    assert asked.deny_syscalls == ("mount",)
    assert asked == Policy(deny_syscalls=("mount",)).debugging()
    file.write_text("[syscalls]\ndebug = false")
    assert Policy.from_toml(file, base=Policy()) == Policy()


@given(text=st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_text_gives_a_policy_or_a_policy_error(text: str, file: Path) -> None:
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    said = str(file)
    try:
        Policy.from_toml(file)
    except PolicyError as error:
        said = str(error)
    assert said.startswith(str(file))


def test_limits_of_a_network_are_read_and_written(file: Path) -> None:
    file.write_text(
        '[network]\nallow = ["a.example.com"]\nmax_connections = 64\nmax_per_second = "none"\n'
        'max_sent = "10M"\nmax_received = "1G"\n'
    )
    policy = Policy.from_toml(file)
    assert (policy.max_connections, policy.max_per_second) == (64, None)
    assert (policy.max_sent_bytes, policy.max_received_bytes) == (10 << 20, 1 << 30)
    file.write_text(policy.to_toml())
    assert Policy.from_toml(file) == policy
    file.write_text('[network]\nmode = "host"\n')
    assert Policy.from_toml(file, policy) == Policy.default().but(network="host")
