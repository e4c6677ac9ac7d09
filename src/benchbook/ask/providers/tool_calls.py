"""Calls of tools in an answer: what the model would have done, as part of the text that is judged."""

from __future__ import annotations

from typing import Any

from benchbook.evalsets.conversations import called

__all__ = ["ToolCalls"]

_MOST = 128  # calls in one answer


class ToolCalls:
    """Gathers calls, whole or in the pieces of a stream. Where no tools were offered, they are no answer."""

    def __init__(self, request: bytes) -> None:
        self._offered = b'"tools":' in request
        self._calls: dict[int, list[str]] = {}  # by their place: name and arguments

    def add(self, value: Any) -> None:
        """A message's `tool_calls`, or a chunk's; what is of no known form is passed over."""
        if not self._offered or not isinstance(value, list):
            return
        for number, call in enumerate(value):
            function = call.get("function") if isinstance(call, dict) else None
            place = call.get("index", number) if isinstance(call, dict) else number
            if not isinstance(function, dict) or not isinstance(place, int):
                continue
            if place in self._calls or len(self._calls) < _MOST:
                known = self._calls.setdefault(place, ["", ""])
                for part, name in enumerate(("name", "arguments")):
                    known[part] += function[name] if isinstance(function.get(name), str) else ""

    def after(self, content: str | None) -> str | None:
        """The answer's text, with a line for each call behind it."""
        lines = [called(name, arguments) for _, (name, arguments) in sorted(self._calls.items())]
        return "\n".join([*([content] if content else []), *lines]) if lines else content
