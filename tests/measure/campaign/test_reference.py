"""The documents are as docs/reference/nightly.md says, in a night that has everything in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.command import Wardian
from tests.measure.campaign.scene import Scene

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "nightly.md"
SCHEMAS: dict[str, Any] = {
    name: json.loads(text)
    for name, text in re.findall(
        r"^```json schema (\w+)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
}


@pytest.mark.timeout(600)
def test_documents_are_as_the_reference_says(tmp_path: Path, wardian: Wardian) -> None:
    assert set(SCHEMAS) == {"evaluation", "decision", "nightly", "history"}
    scene = Scene(tmp_path, wardian)
    scene.night("2026-01-01")
    scene.put("policy.toml", '[syscalls]\ndeny = ["chmod", "fchmodat"]\n')
    (scene.root / "probes/core/demo/hostname.py").unlink()
    scene.put("profile.toml", scene_without_hostname())
    done = scene.run("--date", "2026-01-02", "--json")
    assert done.returncode == 1, done.stderr
    evaluation = json.loads(scene.page("evaluation.json"))
    kinds = {one["kind"] for one in evaluation["differences"]}
    assert {"regressed", "vanished"} <= kinds
    jsonschema.validate(evaluation, SCHEMAS["evaluation"])
    jsonschema.validate(scene.decision(), SCHEMAS["decision"])
    jsonschema.validate(json.loads(done.stdout), SCHEMAS["nightly"])
    reported = wardian("history", "show", "--store", "store.sqlite", "--json", cwd=scene.root)
    jsonschema.validate(json.loads(reported.stdout), SCHEMAS["history"])


def scene_without_hostname() -> str:
    from tests.measure.campaign.scene import PROFILE

    return PROFILE.partition("[specimen.core__demo__hostname]")[0]
