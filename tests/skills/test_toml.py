"""TOML that is made to take long."""

from __future__ import annotations

import time
import tomllib

import pytest

from wardian import toml

FINE = """
a.b."c.d.e" . 'f' = "x.y.z" # 1.2.3
[project.urls]
floats = [1.0, 2.0, 3.0]
long = "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a"
text = \"\"\"
a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a \\" x
\"\"\"
"""


def test_ordinary_documents_are_parsed_as_tomllib_does() -> None:
    assert toml.loads(FINE) == tomllib.loads(FINE)


@pytest.mark.parametrize(
    "text",
    ["a." * 500_000 + "a = 1", "[" + "a." * 500_000 + "a]", "x = {" + "a . " * 200_000 + "a = 1}",
     '"a".' * 200_000 + "a = 1", "'a'\t.\t" * 200_000 + "a = 1", "b.''." * 200_000 + "b=1",
     'x = "' + '\\"' * 300_000, 'x = """' + '\\"' * 300_000 + "\\", "'" * 500_000, '"' * 500_000,
     ('"""' + "\\") * 200_000],
)  # fmt: skip
def test_hostile_documents_are_refused_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match=r"."):
        toml.loads(text)
    assert time.process_time() - started < 5
