"""Which names mean one model (SPEC P1; issue 5: a vendor's snapshot and alias of one model are the same model)."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.errors import ConfigError

__all__ = ["SameModel"]


class SameModel:
    """A declared table, alias -> model. Nothing is guessed: a name that is not in it means itself alone."""

    def __init__(self, table: Mapping[str, str] | None = None) -> None:
        if table is not None and not isinstance(table, Mapping):
            raise ConfigError("same_model", repr(table), "a table, alias to model")
        self._table = dict(table or {})
        for alias, model in self._table.items():
            if not isinstance(model, str):
                raise ConfigError(f"same_model[{alias!r}]", repr(model), "a model's name")
        for name in self._table:
            self._check_ends(name)

    def name(self, model: str) -> str:
        """The name that all of a model's names come to. An alias may lead to another alias."""
        while model in self._table:
            model = self._table[model]
        return model

    def are_same(self, one: str, other: str) -> bool:
        return self.name(one) == self.name(other)

    def _check_ends(self, name: str) -> None:
        seen = {name}
        at = name
        while at in self._table:
            at = self._table[at]
            if at in seen:
                raise ConfigError(f"same_model[{name!r}]", f"a circle through {at!r}", "a table that ends at a model")
            seen.add(at)
