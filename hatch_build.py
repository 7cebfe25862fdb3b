"""Builds the launcher into src/wardian/_bin before a wheel or an editable install is made."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BINARY = os.path.join("src", "wardian", "_bin", "wardian-launch")


class LauncherHook(BuildHookInterface[Any]):
    """``make -C core``, and a wheel tag that says for which machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
        if compiler is None or shutil.which("make") is None:
            sys.exit("error: wardian's launcher is C\n\nhint: install a C compiler and make first")
        out = os.path.join("..", os.path.dirname(BINARY))  # make splits a path that has a space
        command = ["make", "-s", f"OUT={out}", f"CC={compiler}"]
        core = os.path.join(self.root, "core")
        subprocess.run([*command, f"VERSION={self.metadata.version}"], check=True, cwd=core)
        environment = os.environ | {"PYTHONPATH": os.path.join(self.root, "src")}
        compile_data = [sys.executable, "-m", "wardian.sandbox.compile"]
        subprocess.run(compile_data, check=True, cwd=self.root, env=environment)
        build_data["tag"] = f"py3-none-linux_{platform.machine()}"
        build_data["pure_python"] = False
        build_data["artifacts"] += [f"/{BINARY}", "/src/wardian/_bin/*.compiled"]
