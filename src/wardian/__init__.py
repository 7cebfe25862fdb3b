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
    "Limit": "wardian.sandbox.run.result",
    "Limits": "wardian.sandbox.policy.policy",
    "Policy": "wardian.sandbox.policy.policy",
    "Pool": "wardian.sandbox.pool.pool",
    "Process": "wardian.sandbox.run.process",
    "Protection": "wardian.sandbox.run.result",
    "Refusal": "wardian.sandbox.run.result",
    "Result": "wardian.sandbox.run.result",
    "Sandbox": "wardian.sandbox.sandbox",
    "Share": "wardian.sandbox.policy.policy",
    "Usage": "wardian.sandbox.run.result",
    "WardianError": "wardian.errors",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wardian.errors import WardianError
    from wardian.sandbox.policy.policy import Limits, Policy, Share
    from wardian.sandbox.pool.pool import Pool
    from wardian.sandbox.run.process import Process
    from wardian.sandbox.run.result import Limit, Protection, Refusal, Result, Usage
    from wardian.sandbox.sandbox import Sandbox

__all__ = [
    "Limit",
    "Limits",
    "Policy",
    "Pool",
    "Process",
    "Protection",
    "Refusal",
    "Result",
    "Sandbox",
    "Share",
    "Usage",
    "WardianError",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'wardian' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
