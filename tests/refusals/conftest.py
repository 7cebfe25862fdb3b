"""A sandbox in which every look-up is seen, whatever this host has."""

from __future__ import annotations

import pytest

from tests.conftest import MakeSandbox
from wardian import Policy, Sandbox
from wardian.sandbox.run.protections import with_look_ups


@pytest.fixture
def sandbox(make_sandbox: MakeSandbox) -> Sandbox:
    """Under the default policy."""
    return make_sandbox(with_look_ups(Policy.default()))
