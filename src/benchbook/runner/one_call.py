"""A sample that is one call, and finished with its first reply: nobody is asked again about what came back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchbook.records import Failure, Reply
from benchbook.runner.asking import Call

__all__ = ["OneCall", "is_answered"]


def is_answered(facts: Sequence[Reply | Failure]) -> bool:
    """Whether nothing is left to be asked of a sample with these facts."""
    return any(isinstance(fact, Reply) or fact.ends == "sample" for fact in facts)


class OneCall:
    """The steps of such a sample (`work.Steps`). `on_reply` is told of the reply that comes in this sitting."""

    def __init__(
        self, call: Call, facts: Sequence[Reply | Failure], on_reply: Callable[[Reply], None] | None = None
    ) -> None:
        self._call = call
        self._on_reply = on_reply
        self._asked = False  # in this sitting
        self.is_finished = is_answered(facts)

    def add(self, fact: Reply | Failure) -> None:
        self.is_finished = is_answered([fact])
        if isinstance(fact, Reply) and self._on_reply is not None:
            self._on_reply(fact)

    def next_call(self) -> Call | None:
        if self.is_finished or self._asked:
            return None
        self._asked = True
        return self._call
