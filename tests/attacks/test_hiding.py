"""A guest can't keep a refused file out of the report, however it spells or passes the path."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from wardian import Policy, Sandbox, Share
from wardian.sandbox.host import this_host
from wardian.sandbox.run import plan

PROGRAM = Path(__file__).parent / "programs" / "hide.c"
# Look-ups are seen by /dev/fuse, or where they are asked for.
POLICY = Policy.default().but(explain=not this_host().fuse)
SCOPES = ("changes", "opens", "paths", "everything")
WAYS = (
    "plain", "marked", "marked-write", "high-bits", "own-root", "thread-root", "own-directory",
    "link-to-root", "numbered-root", "descriptor", "write-only-memory", "not-dumpable", "deep",
    "removed", "own-listener",
)  # fmt: skip


@pytest.fixture(scope="module")
def hide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hide")
    place.chmod(0o755)
    built = place / "hide"
    subprocess.run(["cc", "-w", "-o", built, PROGRAM], check=True)
    built.chmod(0o755)
    return built


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    made = tmp_path / "secret"
    made.write_text("not for guests")
    return made


def asked(hide: Path, how: str, secret: Path, *, shared: bool = False):  # type: ignore[no-untyped-def]
    shares = [Share(str(hide), "/hide")]
    shares += [Share(str(secret), str(secret))] if shared else []
    with Sandbox(POLICY.with_shares(shares)) as sandbox:
        return sandbox.run(["/hide", how, str(secret)])


def require(scope: str) -> None:
    if scope in ("changes", "opens") and not this_host().fuse:
        pytest.skip("/dev/fuse can't be opened here")


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("how", WAYS)
def test_a_refused_read_is_in_the_report(
    how: str, scope: str, hide: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(scope)
    monkeypatch.setattr(plan, "_scope", lambda host, empty_work: scope)
    result = asked(hide, how, secret)
    assert result.exit_code == 0, result.stdout
    assert str(secret) in [one.target for one in result.refusals], result.refusals


@pytest.mark.parametrize("how", WAYS)
def test_the_same_read_of_what_is_shared_works_and_is_no_refusal(
    how: str, hide: Path, secret: Path
) -> None:
    if how == "marked-write":
        pytest.skip("the share is read-only")
    result = asked(hide, how, secret, shared=True)
    assert result.exit_code == 1, result.stdout
    assert str(secret) not in [one.target for one in result.refusals]


def test_what_can_t_be_spelled_is_counted_at_least(hide: Path, secret: Path) -> None:
    """From a directory whose own path is longer than a path may be."""
    result = asked(hide, "too-deep", secret)
    assert result.exit_code == 0
    assert result.refusals_dropped > 0


def test_an_ordinary_run_drops_nothing(hide: Path, secret: Path) -> None:
    assert asked(hide, "plain", secret).refusals_dropped == 0


def test_no_filter_knows_a_mark_in_a_register() -> None:
    """The only conditions under which a watched call is left alone are about what it does."""
    from wardian.syscalls.watching import SCOPES as KNOWN
    from wardian.syscalls.watching import unless

    for scope in KNOWN:
        for name, quiet in unless(scope).items():  # type: ignore[arg-type]
            for clause in quiet.replace(" or ", " and ").split(" and "):
                assert not clause.startswith("high") or clause.endswith(" == 0"), (name, quiet)
