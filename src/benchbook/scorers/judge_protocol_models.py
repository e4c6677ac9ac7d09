"""Which names mean one model (SPEC P1; issue 5: a vendor's snapshot and alias of one model are the same model)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from benchbook.errors import ConfigError

__all__ = ["SameModel", "with_versions"]


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


def with_versions(table: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The table, and for each of its names and of `names` that has no `@version`: the version of it that it means.

    It means the one that the table names: `openai/acme` is `openai/acme@1` where that stands there. Of several that the
    table does not call one model it means none, a name with a version is never another's, and what the table says of a
    name goes first. Raises: ConfigError for a table that does not hold.
    """
    whole = dict(table)
    models = SameModel(whole)
    named = {*table, *table.values()}
    for name in sorted({*named, *names} - whole.keys()):
        versions = {models.name(one) for one in named if one.rpartition("@")[0] == name}
        if len(versions) == 1 and name not in versions:
            whole[name] = versions.pop()
            models = SameModel(whole)
    return whole
