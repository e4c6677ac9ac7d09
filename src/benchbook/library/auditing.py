"""Audits of other tools' logs: `bb.audit` as an object that holds the verdicts and prints well."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from benchbook.exchange.audit.auditing import audits_of
from benchbook.exchange.audit.result import LogAudit
from benchbook.exchange.tools import tool_named
from benchbook.library.twins import in_thread
from benchbook.text import plural

if TYPE_CHECKING:
    import polars


def audit(path: str | Path, *, tool: str | None = None) -> LogAudits:
    """Compute each number of another tool's log again from the samples that it holds.

    `path` is a file or a folder. `tool` names who wrote it, where the file alone does not say it.

    Raises: InputError for what is no log; UsageError for a tool that is not known.
    """
    return LogAudits(list(audits_of(path, None if tool is None else tool_named(tool))))


audit_async = in_thread(audit)


class LogAudits:
    """The audits of one log, or of all in a folder."""

    def __init__(self, logs: Sequence[LogAudit]) -> None:
        self.logs = tuple(logs)

    @property
    def holds(self) -> bool:
        """True where no number contradicts the samples: each follows, or can't be told."""
        return not any(one.n_do_not_follow for one in self.logs)

    @cached_property
    def numbers(self) -> polars.DataFrame:
        """A row for each claimed number: log, scorer, metric, claimed, computed, verdict, reason."""
        import polars as pl

        texts = ("log", "scorer", "metric", "where", "verdict", "reason_code", "reason", "formula", "reducer")
        types = dict.fromkeys(texts, pl.String) | {"claimed": pl.Float64, "computed": pl.Float64, "n": pl.Int64}
        rows = [
            {"log": log.files[0] if log.files else log.task} | msgspec.to_builtins(number)
            for log in self.logs
            for number in log.claims
        ]
        return pl.DataFrame(rows, types)

    def to_html(self) -> str:
        """One page that needs nothing but itself."""
        from benchbook.exchange.audit.document import audit_document
        from benchbook.views.html import html_page

        return "".join(html_page(audit_document(self.logs)))

    def to_markdown(self) -> str:
        from benchbook.exchange.audit.document import audit_document
        from benchbook.views.markdown import markdown_page

        return "".join(markdown_page(audit_document(self.logs)))

    def __str__(self) -> str:
        from benchbook.exchange.audit.document import audit_document
        from benchbook.views.terminal import document_lines

        return "\n".join(document_lines(audit_document(self.logs)))

    def _repr_html_(self) -> str:
        from benchbook.exchange.audit.document import audit_document
        from benchbook.views.fragment import fragment

        return fragment(audit_document(self.logs))

    def __repr__(self) -> str:
        n, n_not = (
            sum(len(one.claims) for one in self.logs),
            sum(one.n_do_not_follow for one in self.logs),
        )
        return f"<LogAudits of {plural(len(self.logs), 'log')}: {n_not:,} of {plural(n, 'number')} do not follow>"
