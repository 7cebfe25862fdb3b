"""How much a refusal matters, as a type. Apart from the values, for importing typing takes time."""

from __future__ import annotations

from typing import Literal, TypeAlias

# cause: the run failed, and this is its likely cause. notable: people need to know of it. routine:
# programs try it as a matter of course and do well without.
Weight: TypeAlias = Literal["cause", "notable", "routine"]
