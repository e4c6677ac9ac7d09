"""What makes a judge's replies unreadable (R3.5, P4), the setting that mends it, and how many in a row are enough."""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchbook.ask.requests import RolePlan
from benchbook.record.facts import Reply

__all__ = ["REJECTED_IN_A_ROW", "InARow", "Rejection", "explained"]


_TAG = re.compile(r"\s*<([A-Za-z][\w:-]{0,30})>")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why no reply of a judge was read. `said` and `mended` are the same for all of a kind."""

    judge: int
    reason: str  # of R3.5's closed list; of an evaluation, the code of what was found
    said: str
    mended: str


def explained(reply: Reply, reason: str, detail: str, judge: RolePlan, prefix: str) -> tuple[str, str]:
    """What is wrong with a reply, and what mends it."""
    text = reply.text or ""
    if reply.finish_reason == "length":
        limit = judge.params.get("max_tokens")
        said = "it is cut by max_tokens" + (" before any text" if not text.strip() else "")
        return said, f"{prefix}params = {{max_tokens = {2 * limit if isinstance(limit, int) else 2048}}}"
    tag = _TAG.match(text)
    if tag is not None and tag[1] not in judge.reasoning_tags and f"</{tag[1]}>" in text:
        return f"it begins with its thoughts, <{tag[1]}>", f'{prefix}reasoning_tags = ["{tag[1]}"]'
    if reason == "empty_reply":
        apart = " and thoughts apart" if reply.reasoning_characters else ""
        return f"it came without text{apart}", "a server that sends the judge's answer as content, or another judge"
    schema = "another judge" if judge.json_schema else f"{prefix}json_schema = true, where its server takes it"
    if _FENCE.search(text):
        return "its JSON stands in a Markdown fence", schema
    is_no_json = reason in ("malformed_json", "truncated", "not_strict_json")
    if is_no_json and "{" in text and not text.lstrip().startswith("{"):
        return "there is text around its JSON", schema
    return f"{reason}: {detail}" if reason in ("malformed_json", "not_strict_json") else reason, schema


REJECTED_IN_A_ROW = 10


class InARow:
    """Counts, for each judge, how many of its replies in a row were rejected for one reason."""

    def __init__(self, n_judges: int) -> None:
        self._in_a_row = [0] * n_judges
        self._last_reason: list[str | None] = [None] * n_judges

    def was_read(self, judge: int) -> None:
        self._in_a_row[judge], self._last_reason[judge] = 0, None

    def is_enough_with(self, one: Rejection) -> bool:
        again = one.reason == self._last_reason[one.judge]
        self._in_a_row[one.judge] = self._in_a_row[one.judge] + 1 if again else 1
        self._last_reason[one.judge] = one.reason
        return self._in_a_row[one.judge] >= REJECTED_IN_A_ROW
