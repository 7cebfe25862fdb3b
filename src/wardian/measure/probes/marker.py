"""The pytest marker ``requires_capability``: skip a test where what it needs is not there.

    @pytest.mark.requires_capability("network_loopback")
    @pytest.mark.requires_capability("filesystem_tmp_write", sandbox="wardian")

Without artifacts, the specimens of that capability are run once in a session, where the tests run:
on the host, or in the sandbox that is named. ``WARDIAN_ARTIFACTS=DIR`` is believed instead. This
module is loaded by every pytest of its environment, so it imports nothing until a marker is met.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from wardian.measure.probes.artifact import Artifact
    from wardian.measure.probes.comparing import Holding

MARKER = "requires_capability"
HERE = "host"
_found: dict[tuple[str, str], Holding] = {}
_read: dict[str, Sequence[Artifact]] = {}


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, for --strict-markers."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*names, sandbox='host'): skip unless these capabilities hold "
        "(wardian probe list; measured once, or read from WARDIAN_ARTIFACTS)",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip before fixtures are made."""
    for mark in item.iter_markers(MARKER):
        _require(mark)


def _require(mark: pytest.Mark) -> None:
    import pytest

    sandbox = mark.kwargs.get("sandbox", HERE)
    wrong = [name for name in mark.kwargs if name != "sandbox"]
    if wrong or not mark.args or not all(isinstance(name, str) for name in mark.args):
        raise pytest.UsageError(f'{MARKER} takes names and sandbox=: {MARKER}("network_loopback")')
    for name in mark.args:
        held = _holding(name, sandbox)
        if not held.holds:
            where = "here" if sandbox == HERE else f"in {sandbox}"
            pytest.skip(f"needs {name}, which is not there {where}: {held.why}")


def _holding(name: str, sandbox: str) -> Holding:
    if (name, sandbox) not in _found:
        import pytest

        from wardian.errors import WardianError
        from wardian.measure.probes.comparing import holding

        try:
            _found[name, sandbox] = holding(name, sandbox, _artifacts(name, sandbox))
        except WardianError as error:
            raise pytest.UsageError(f"{MARKER}({name!r}): {error}") from None
    return _found[name, sandbox]


def _artifacts(name: str, sandbox: str) -> Sequence[Artifact]:
    from wardian.measure.probes import artifact, specimen

    specimens = specimen.find_specimens(specimen.probes_dir(os.environ.get("WARDIAN_PROBES")))
    chosen = specimen.choose_capabilities(specimens, [name])
    directory = os.environ.get("WARDIAN_ARTIFACTS")
    if directory:
        if directory not in _read:
            _read[directory] = artifact.read_all(directory)
        return _read[directory]
    from wardian.measure.probes.running import measure
    from wardian.measure.probes.witnesses import witnesses
    from wardian.measure.target import target
    from wardian.sandbox.paths.named import was_shared

    # The tests run here already, and the caller's environment names the specimens. Those that a
    # guest could have changed are nobody's choice.
    named = all(was_shared(one.root) is None for one in chosen)
    with witnesses() as env:
        return measure(chosen, [target(sandbox)], env, host_named=named)
