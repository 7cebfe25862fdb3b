"""The JSON schemas that the documentation holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[3] / "docs" / "reference"
PAGES = ("probe-artifact.md", "fuzz.md")
FENCE = re.compile(r"^```json schema\n(.*?)^```", re.MULTILINE | re.DOTALL)


def schema_of(title: str) -> dict[str, Any]:
    """The schema with this title on the pages about probes."""
    text = "".join((PLACE / page).read_text() for page in PAGES)
    found = {one["title"]: one for one in map(json.loads, FENCE.findall(text))}
    schema: dict[str, Any] = found[title]
    return schema
