"""The result of an audit, as `--json` prints it: what was said of each claimed number, and what stands beside them."""

from __future__ import annotations

from typing import Literal

import msgspec

from benchbook.evaluators.intervals import Interval

FORMAT = "benchbook-audit@1"

Verdict = Literal["follows", "does_not_follow", "can_not_be_told"]
LogVerdict = Literal["follows", "does_not_follow", "can_not_be_told", "nothing_claimed"]  # the worst of its numbers

# Why a number is judged as it is. Of one that follows or can't be told, "" where nothing is to be said.
ReasonCode = Literal[
    "",
    # follows
    "rounded",
    "some_unscored",
    "one_value_as_zero",
    "none_to_compute",
    # can't be told
    "no_formula",
    "no_number",
    "samples_absent",
    "scores_absent",
    "unknown_parameter",
    "ties",
    "tokens_unknown",
    "can_not_be_computed",
    # does not follow
    "outside_of_what_is_possible",
    "failures_as_zero",
    "failures_dropped",
    "another_reducer",
    "repeats_not_reduced",
    "repeats_reduced",
    "doubled_counted",
    "truncated_summaries",
    "whole_population",
    "clusters_ignored",
    "clusters_taken",
    "another_formula",
    "percent",
    "rounding",
    "fewer_samples",
    "nothing_scored",
    "no_simple_reason",
]


class AuditedNumber(msgspec.Struct, frozen=True, kw_only=True):
    """A claimed number. `computed` is null where it can't be computed; `n` counts the values that it was made of:
    samples, or items where repeats are reduced."""

    scorer: str  # empty: of the samples themselves
    metric: str
    where: str
    claimed: float | None
    computed: float | None
    verdict: Verdict
    reason_code: ReasonCode = ""
    reason: str = ""
    formula: str | None = None
    reducer: str | None = None
    n: int | None = None


class ScorerLedger(msgspec.Struct, frozen=True, kw_only=True):
    """A scorer's samples, and the mean of their values with its interval, by what was taken as clusters."""

    scorer: str
    n_scored: int
    n_unscored: int  # an entry without a value
    n_without: int  # no entry at all
    unscored: dict[str, int]  # reason -> samples
    mean: float | None
    interval: Interval | None
    clusters: Literal["groups", "items"] | None
    judge: str | None = None


class LogLedger(msgspec.Struct, frozen=True, kw_only=True):
    """The samples: claimed, held, and what became of them. Doubled ones count once, the last."""

    n_claimed: int | None
    n_held: int
    n_absent: int | None
    n_items: int
    repeats: int  # the most of any item
    n_doubled: int
    failures: dict[str, int]  # kind -> samples
    limits: dict[str, int]
    n_without_answer: int


class AuditFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Something beside the numbers that a reader should know. `examples` name samples."""

    code: str
    words: str
    n: int
    examples: tuple[str, ...] = ()


class LogAudit(msgspec.Struct, frozen=True, kw_only=True):
    """One log, audited: the `numbers` that it claims, and apart from them its `counts` of samples, whoever scored them.
    The counts of verdicts are of both; a log that claims counts alone, which follow, claims nothing."""

    format: str
    files: tuple[str, ...]
    tool: str
    tool_version: str | None
    form: str
    task: str
    model: str | None
    status: str
    verdict: LogVerdict
    n_claimed: int | None
    n_held: int
    n_follow: int
    n_do_not_follow: int
    n_can_not_be_told: int
    numbers: tuple[AuditedNumber, ...]
    counts: tuple[AuditedNumber, ...]
    ledger: LogLedger
    scorers: tuple[ScorerLedger, ...]
    findings: tuple[AuditFinding, ...]

    @property
    def claims(self) -> tuple[AuditedNumber, ...]:
        """The numbers, and then the counts."""
        return (*self.numbers, *self.counts)


class AuditedLogs(msgspec.Struct, frozen=True, kw_only=True):
    """Several logs of one folder or file. The counts are of the numbers of all; `broken` are the errors of logs that
    make no sense."""

    format: str
    n_logs: int
    n_follow: int
    n_do_not_follow: int
    n_can_not_be_told: int
    logs: tuple[LogAudit, ...]
    broken: tuple[str, ...] = ()
