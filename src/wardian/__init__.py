"""wardian runs commands and Agent Skills under glass.

    from wardian import Sandbox

    with Sandbox.create() as sandbox:
        result = sandbox.run(["python3", "-c", "print(6 * 7)"])
        print(result.text, result.exit_code, result.refusals)

The names below are the public API; each is imported from its module on first use, so that
``import wardian`` costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

_HOMES = {
    "Answer": "wardian.sandbox.network.asking",
    "AsyncProcess": "wardian.sandbox.asynchronous",
    "AsyncSandbox": "wardian.sandbox.asynchronous",
    "ConnectRequest": "wardian.sandbox.network.asking",
    "CopyReport": "wardian.sandbox.files.values",
    "FileChange": "wardian.sandbox.files.values",
    "FileInfo": "wardian.sandbox.files.values",
    "Files": "wardian.sandbox.files.files",
    "Forward": "wardian.sandbox.ports",
    "Limit": "wardian.sandbox.run.result",
    "Limits": "wardian.sandbox.policy.policy",
    "Policy": "wardian.sandbox.policy.policy",
    "Pool": "wardian.sandbox.pool.pool",
    "Process": "wardian.sandbox.run.process",
    "Protection": "wardian.sandbox.run.result",
    "Reason": "wardian.sandbox.run.reason",
    "Refusal": "wardian.sandbox.run.result",
    "Result": "wardian.sandbox.run.result",
    "Sandbox": "wardian.sandbox.sandbox",
    "Secret": "wardian.sandbox.policy.policy",
    "Share": "wardian.sandbox.policy.policy",
    "TlsRule": "wardian.sandbox.policy.policy",
    "Usage": "wardian.sandbox.run.result",
    "WardianError": "wardian.errors",
    "Weight": "wardian.sandbox.run.weight",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wardian.errors import WardianError
    from wardian.sandbox.asynchronous import AsyncProcess, AsyncSandbox
    from wardian.sandbox.files.files import Files
    from wardian.sandbox.files.values import CopyReport, FileChange, FileInfo
    from wardian.sandbox.network.asking import Answer, ConnectRequest
    from wardian.sandbox.policy.policy import Limits, Policy, Secret, Share, TlsRule
    from wardian.sandbox.pool.pool import Pool
    from wardian.sandbox.ports import Forward
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.reason import Reason
    from wardian.sandbox.run.result import Limit, Protection, Refusal, Result, Usage
    from wardian.sandbox.run.weight import Weight
    from wardian.sandbox.sandbox import Sandbox

__all__ = [
    "Answer",
    "AsyncProcess",
    "AsyncSandbox",
    "ConnectRequest",
    "CopyReport",
    "FileChange",
    "FileInfo",
    "Files",
    "Forward",
    "Limit",
    "Limits",
    "Policy",
    "Pool",
    "Process",
    "Protection",
    "Reason",
    "Refusal",
    "Result",
    "Sandbox",
    "Secret",
    "Share",
    "TlsRule",
    "Usage",
    "WardianError",
    "Weight",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'wardian' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
