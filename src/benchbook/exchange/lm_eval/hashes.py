"""The hashes that the harness writes: of each row's prompt and target, and of a task's rows together.

They cover the question, the right answer, and which rows there are, in which order; no answer and no score. Where one
does not hold, somebody changed the file after the harness wrote it, or it is a part of what was written.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from benchbook.exchange.log import LogNote
from benchbook.text import plural


class HashesOfRows:
    """Checks each row that is read."""

    def __init__(self) -> None:
        self._n = {"prompt": 0, "target": 0}
        self._first = {"prompt": "", "target": ""}

    def check(self, row: Any, asked: Any, where: str) -> None:
        """Compare a row's hashes with what it holds, where it has them. `asked` is the text of its first request."""
        if isinstance(asked, list) and len(asked) == 1:
            asked = asked[0]
        if row.prompt_hash is not None and isinstance(asked, str):
            self._compare("prompt", asked, row.prompt_hash, where)
        if row.target_hash is not None and isinstance(row.target, str):
            self._compare("target", row.target, row.target_hash, where)

    def _compare(self, what: str, text: str, stated: str, where: str) -> None:
        if sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != stated:
            if not self._n[what]:
                self._first[what] = where
            self._n[what] += 1

    def notes(self) -> list[LogNote]:
        """Hashes that do not hold."""
        return [
            LogNote(
                code=f"{what}_hash",
                words=f"the {what} of {plural(n, 'row')} does not have the hash that stands beside it, first at"
                f" {self._first[what]}: it was changed after the harness wrote it",
                n=n,
            )
            for what, n in self._n.items()
            if n
        ]


def note_of_task(stated: str | None, found: str | None) -> LogNote | None:
    """A note where the results' hash of a task's rows is not that of the rows held."""
    if stated is None or found is None or stated == found:
        return None
    return LogNote(
        code="task_hash",
        words="the samples are not those, or not all of those, that the results state a hash of: rows are missing, were"
        " added or sorted, or their documents, prompts or targets changed",
    )
