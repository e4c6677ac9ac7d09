"""Structs whose fields go by a spec: what it scores has columns of its own between those that all share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import msgspec

if TYPE_CHECKING:

    class Made(msgspec.Struct, frozen=True, kw_only=True):
        """The base of every struct made by `made`. The fields that a spec adds are unknown to whoever reads code."""

        def __getattr__(self, name: str) -> Any: ...

else:

    class Made:
        """The base of every struct made by `made`. Its annotations are the fields that all specs share, in their order.

        It is no struct itself: the fields of a struct's base come before its own, and here they stand in between.
        """

        __slots__ = ()

        def __init_subclass__(cls, **_: bool) -> None:
            """Do nothing yet: options of the struct are given as for any other."""


_Base = TypeVar("_Base", bound=Made)


def made(
    base: type[_Base], added: Mapping[str, Sequence[tuple[str, Any]]], types: Mapping[str, Any] | None = None
) -> type[_Base]:
    """A struct that is a `base` and goes by its name: with the fields `added`, name and type, after the one they are
    given for, and with other `types` for some of its own."""
    fields: list[Any] = []
    for name, kind in get_type_hints(base).items():
        if name.startswith("__"):
            continue
        default = getattr(base, name, msgspec.NODEFAULT)
        fields.append((name, (types or {}).get(name, kind), default))
        fields += added.get(name, ())
    return msgspec.defstruct(  # type: ignore[return-value]
        base.__name__,
        fields,
        bases=(base, msgspec.Struct),
        module=base.__module__,
        namespace={"__doc__": base.__doc__},
        frozen=True,
        kw_only=True,
    )
