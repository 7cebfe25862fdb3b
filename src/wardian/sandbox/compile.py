"""``python -m wardian.sandbox.compile``: write the compiled forms of our data. Run by the build."""

from __future__ import annotations

import functools
import itertools

from wardian import compiled
from wardian.sandbox.host import Host
from wardian.sandbox.policy import policy
from wardian.sandbox.root import layout
from wardian.sandbox.run import filter, plan

MACHINES = ("x86_64", "aarch64")


def compile_all() -> None:
    """See wardian.compiled."""
    compiled.store("layout", layout.SOURCES, layout.read_layout)
    compiled.store(policy.DEFAULT_PRESET, policy.DEFAULT_SOURCES, policy.read_default)
    for arch in MACHINES:
        for shares_written, watch in itertools.product((False, True), plan.COMPILED_SCOPES):
            make = functools.partial(
                filter.make_filter,
                policy.Policy(),
                Host(arch=arch, kernel=(0, 0), landlock_abi=0, uid=0),
                {"proc", "notify"},
                shares_written=shares_written,
                watch=watch,
            )
            name = plan.filter_name(arch, shares_written, watch)
            compiled.store(name, plan.FILTER_SOURCES, make)


if __name__ == "__main__":
    compile_all()
