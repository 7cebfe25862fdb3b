"""The JSON schemas that the documentation holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "probe-artifact.md"
FENCE = re.compile(r"^```json schema\n(.*?)^```", re.MULTILINE | re.DOTALL)


def schema_of(title: str) -> dict[str, Any]:
    """The schema with this title on the page about probes."""
    found = {one["title"]: one for one in map(json.loads, FENCE.findall(PAGE.read_text()))}
    schema: dict[str, Any] = found[title]
    return schema
