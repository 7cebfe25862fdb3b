"""NamedTuple for the start path: same use, a tenth of the cost to import and to define.

    TYPE_CHECKING = False
    if TYPE_CHECKING:
        from typing import NamedTuple
    else:
        from wardian.values import NamedTuple

Type checkers see typing's own. At run time this stands in for it: importing typing takes as long as
half a start of Python, and each class that it makes is compiled from text.
"""

from __future__ import annotations

import sys
from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Maker(type):
    """Turns the annotations of a class body into fields, in their order."""

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Maker:
        if not bases:
            return super().__new__(mcs, name, (tuple,), body)
        fields = tuple(body.get("__annotations__", ()))
        defaults = {field: body.pop(field) for field in fields if field in body}
        for i, field in enumerate(fields):
            body[field] = property(itemgetter(i))
        body.update(_fields=fields, _field_defaults=defaults, __match_args__=fields, __slots__=())
        return super().__new__(mcs, name, bases, body)


class NamedTuple(metaclass=_Maker):
    """A frozen value with named fields, compared by value. See the module."""

    __slots__ = ()
    _fields: tuple[str, ...]
    _field_defaults: dict[str, Any]

    def __new__(cls, *args: Any, **named: Any) -> NamedTuple:
        fields = cls._fields
        if len(args) > len(fields):
            raise TypeError(f"{cls.__name__} takes {len(fields)} values, not {len(args)}")
        values = list(args)
        for field in fields[len(args) :]:
            if field in named:
                values.append(named.pop(field))
            elif field in cls._field_defaults:
                values.append(cls._field_defaults[field])
            else:
                raise TypeError(f"{cls.__name__} needs a value for {field!r}")
        if named:
            raise TypeError(f"{cls.__name__} got unexpected or repeated values for {list(named)}")
        return tuple.__new__(cls, values)  # type: ignore[type-var]

    def _replace(self, **changes: Any) -> NamedTuple:
        """The same value with other fields."""
        return type(self)(**(self._asdict() | changes))

    def _asdict(self) -> dict[str, Any]:
        """Field names to values, in order."""
        return dict(zip(self._fields, self, strict=True))  # type: ignore[call-overload]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
        return f"{type(self).__name__}({shown})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)  # type: ignore[arg-type]


if sys.version_info >= (3, 14):  # annotations are no longer kept in the class body as they were
    from typing import NamedTuple  # type: ignore[assignment,no-redef]
