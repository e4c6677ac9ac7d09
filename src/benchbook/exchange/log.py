"""Another tool's log as all of them are read here: a header, the numbers that it claims, its samples one at a time.

What a log does not say is None, and never a guess. A value that nobody measured is no 0 (SPEC C5, R1.3b): a sample
whose harness failed, that ran into a limit before it was scored, or whose score is NaN, is unscored, with the reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

RECORD_DECIMALS = 9  # of the numbers of a record, and so of those in logs that were made of one
LogStatus = Literal["complete", "being_written", "failed", "cancelled", "not_known"]

# How a claimed number follows from its samples' values.
Formula = Literal[
    "mean",
    "stderr",  # of the mean: s / sqrt(n), s with ddof 1
    "stderr_of_clusters",  # the same by clusters, as `Claim.clusters` names them
    "std",  # ddof 1
    "var",  # ddof 1
    "population_std",  # ddof 0
    "population_var",  # ddof 0
    "min",
    "max",
    "median",
    "upper_median",  # of two in the middle the higher
    "sum",
    "share_of_ones",  # values of 1, of all
    "share_passed",  # of the samples that are scored
    "mean_of_means",  # of the clusters', as `Claim.clusters` names them, however large they are
    "pooled_stderr",  # of the mean: sqrt(q / (n - clusters) / n), q the squared distances from a value's cluster's mean
    "stderr_of_means",  # of the mean of the clusters' means: sqrt(sum of their squared errors) / clusters
    "perplexity",  # exp(-mean)
    "weighted_perplexity",  # exp(-sum of a / sum of b), of a value's parts (a, b)
    "bits_per_unit",  # -sum of a / sum of b / ln 2, of its parts (a, b)
    "f1",  # of label 1, of its parts: the right label and the one given, each 0 or 1
    "matthews",  # Matthews' correlation of its parts: the right label and the one given, of any number of labels
    "n_samples",  # that are held
    "n_scored",
    "n_unscored",
    "n_passed",
    "n_failed",  # scored, and not passed
    "n_errors",
    "n_completed",  # that no error ended
    "sum_of_input_tokens",
    "sum_of_output_tokens",
    "sum_of_tokens",
]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A number that the log states of its samples.

    `scorer` is the name by which samples hold the values it was made of; empty for a number of the samples themselves,
    as `field` of their metadata holds it: a sample without it adds nothing.
    `formula` is None where it can't be computed again here, and `why_not` says why in words. Of `reducer`, by which an
    item's repeats are made one value before: mean, median, mode, max, at_least_<k>, pass_at_<k>; None: they are not.
    """

    scorer: str
    metric: str  # as the log calls it
    value: float | None  # None: the log has null or NaN there
    where: str  # its place in the log, as `results.scores[0].metrics.accuracy`
    formula: Formula | None = None
    why_not: str = ""
    field: str | None = None  # the values are the numbers in this field of the samples' metadata, and no scorer's
    of_file: Formula | None = None  # follows from the samples of all logs in the file, where this one's do not suffice
    reducer: str | None = None
    of_repeats: bool = False  # of each repeat's mean: of all trials, say, or epochs; and not of the values themselves
    clusters: str | None = None  # by this field of the samples' metadata
    only: tuple[str, str] | None = None  # of samples whose metadata has this value in this field
    decimals: int | None = None  # the log rounds it to so many; None: it has all digits


class LogScorer(msgspec.Struct, frozen=True, kw_only=True):
    """Who scored samples under one name. The scale is None where the log does not say it."""

    name: str
    lowest: float | None = None
    highest: float | None = None
    higher_is_better: bool = True
    judge: str | None = None  # the model that judged
    passes_at: float | None = None  # the least value that passes


class LogHeader(msgspec.Struct, frozen=True, kw_only=True):
    """All that a log says of itself."""

    tool: str  # of `tools.TOOLS`
    tool_version: str | None
    form: str  # the form of the file, with its version: "eval, version 2"
    task: str  # the eval's name
    model: str | None
    scorers: tuple[LogScorer, ...] = ()
    status: LogStatus = "not_known"
    created_at: str | None = None  # RFC 3339, UTC where the log says a time zone
    dataset: str | None = None
    dataset_version: str | None = None
    n_claimed: int | None = None  # samples that the log says it has, of all repeats
    repeats: int = 1
    claims: tuple[Claim, ...] = ()
    generation_params: Mapping[str, Any] = {}
    prompt_template: str | None = None
    error: str | None = None  # for which the whole eval ended
    samples_of: tuple[str, ...] = ()  # tasks with logs of their own that hold these samples: it is a group of them
    metadata: Mapping[str, Any] = {}  # whatever else identifies it


def created_at_of(text: str) -> str | None:
    """A moment as `LogHeader.created_at` has it; None for a text that says none."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment.isoformat()
        return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


class LogScore(msgspec.Struct, kw_only=True, gc=False):
    """One scorer's word on one sample. `value` is a number on the scorer's own scale; None: unscored, and why, or there
    are `parts`.
    """

    value: float | None
    unscored: str | None = None  # NaN, an error of the scorer, skipped …; a word or a few
    parts: tuple[float, ...] | None = None  # instead of a value: numbers of which only all samples' make one
    said: str | None = None  # the value as the log has it, where that is no number: "C", "I"
    passed: bool | None = None  # as the log says; None: it does not
    answer: str | None = None  # what was compared: the answer as the scorer extracted it
    explanation: str | None = None  # what the judge, or the check, gave as its reason
    guessed: str | None = None  # why the judge's reply can only be read by guess; None: it is strict, or nobody judged


class LogFailure(msgspec.Struct, kw_only=True, gc=False):
    """Why the harness has no answer, or ended a sample: by no fault of the model's that anybody knows of."""

    message: str
    kind: str = "error"  # error, timeout, cancelled, limit


class LogSample(msgspec.Struct, kw_only=True):
    """One sample: an item, asked once. Texts are as the log has them, untrusted."""

    id: str
    repeat: int = 0  # from 0
    prompt: str  # what was asked, as text: of a conversation, what a person would read; empty where it is not known
    references: tuple[str, ...] = ()  # right answers
    choices: tuple[str, ...] = ()
    context: str | None = None
    answer: str | None  # the model's text; None where there is none
    scores: dict[str, LogScore] = {}
    failure: LogFailure | None = None
    limit: str | None = None  # message, token, time …: it was ended there, and may be scored all the same
    finish_reason: str | None = None
    group: str | None = None  # what the item shares with others: a document, a template
    category: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    latency_ms: int | None = None
    model_reported: str | None = None
    messages: list[dict[str, Any]] | None = None  # role and content, where a conversation was asked
    metadata: dict[str, Any] = {}  # JSON values
    where: str = ""  # its place: `samples/1_epoch_1.json`, `line 3`


PROMPTS_NOT_KNOWN = "prompts_not_known"  # the code of a note: the log's own samples don't say what was asked


class LogNote(msgspec.Struct, frozen=True, kw_only=True):
    """Something about a log that its readers should know: `code` is a word, `words` a sentence."""

    code: str  # being_written, doubled_member, cut_line, unreadable_sample, …
    words: str
    n: int = 1


class ForeignLog(ABC):
    """One log: of one model on one task. A file may hold several, and a log may lie in several files.

    `files` are those that it was read from, by the names that a record gives them among its inputs.
    """

    header: LogHeader
    files: Mapping[str, Path]

    @abstractmethod
    def samples(self, *, whole: bool = True) -> Iterator[LogSample]:
        """The samples, one at a time, in the order of the log; may be called again, and no two at once.

        `whole`: with messages and metadata, beyond what claims name, which no audit needs. Memory does not grow with
        the number of samples.

        Raises: InputError that says where the log stops making sense.
        """

    def notes(self) -> list[LogNote]:
        """All that was noticed, of the samples too, once all were read."""
        return []

    def close(self) -> None:  # noqa: B027 - most hold nothing open
        """Close what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A loss: something of a log that a form can't hold, for whoever exports."""

    what: str  # a sentence without its end: "unscored samples have no score there: 3 went to `error`"
    n: int | None = None
