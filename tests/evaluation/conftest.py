from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wardian.evaluation.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "store.sqlite")) as opened:
        yield opened
