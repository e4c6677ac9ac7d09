"""Watches samples as they go by, for what no claimed number shows: guessed replies, values outside, doubtful quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from benchbook.evaluators.evidence_text import NormalisedText
from benchbook.evaluators.quotes import LengthRule, locate
from benchbook.exchange.audit.result import AuditFinding
from benchbook.exchange.log import Claim, LogHeader, LogSample, LogScore, LogScorer
from benchbook.text import plural, shorten

_EXAMPLES = 3
_ID = 60  # characters of a sample's id
_LENGTH = LengthRule(min_length=4, cjk_character_length=2)
_MOST_QUOTES = 20  # of one explanation
_LONGEST = 20_000  # characters of an explanation that are looked through
_LONG = 1_000_000  # characters of an answer: in a longer one, only the very words are looked for

# A passage between double quotes, long enough that finding it says something.
_QUOTED = re.compile('["“]([^"“”\n]{12,400})["”]')
# Words that say whose the quoted words are, before it in its own sentence.
_OF_THE_ANSWER = re.compile(
    r"\b(?:submission|submitted answer|response|student|candidate|assistant|model'?s? (?:answer|output|response))\b",
    re.IGNORECASE,
)
_OF_SOMETHING_ELSE = re.compile(
    r"\b(?:expert|reference|criterion|criteria|question|task|prompt|instructions?|target|expected|correct answer|"
    r"gold|rubric|should|would|could|not|never|without|instead|rather|such as|like)\b|n't\b",
    re.IGNORECASE,
)
_BEFORE = 120
# Metrics that are shares of right answers, by their names.
_SHARES = frozenset({"accuracy", "acc", "acc_norm", "exact_match"})


@dataclass(slots=True)
class _Tally:
    """How often something was seen, and the first samples where it was."""

    n: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        self.n += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)


def named(sample: LogSample) -> str:
    """A sample as people find it again."""
    name = shorten(sample.id, _ID)
    return f"{name}, repeat {sample.repeat + 1}" if sample.repeat else name


class Watch:
    """All that was seen of the samples so far."""

    def __init__(self, header: LogHeader) -> None:
        self._scorers = {one.name: _with_scale(one, header.claims) for one in header.scorers}
        self._guessed: dict[str, _Tally] = {}
        self._outside: dict[str, _Tally] = {}
        self._quotes: dict[str, _Tally] = {}
        self._n_quotes: dict[str, int] = {}

    def see(self, sample: LogSample) -> None:
        for name, score in sample.scores.items():
            scorer = self._scorers.get(name)
            if score.guessed is not None:
                self._guessed.setdefault(name, _Tally()).add(f"{named(sample)}: {shorten(score.guessed, 120)}")
            if scorer is None:
                continue
            if score.value is not None and _is_outside(score.value, scorer):
                self._outside.setdefault(name, _Tally()).add(f"{named(sample)}: {score.value:.10g}")
            if scorer.judge is not None and score.explanation and sample.answer:
                self._look_up(name, sample, score)

    def _look_up(self, name: str, sample: LogSample, score: LogScore) -> None:
        """Hold the judge's quotes of the answer against it."""
        answer = sample.answer or ""
        text: NormalisedText | None = None
        for quote in answer_quotes(score.explanation or ""):
            self._n_quotes[name] = self._n_quotes.get(name, 0) + 1
            if quote in answer:
                continue
            text = text or NormalisedText(answer)
            if len(answer) > _LONG or not locate(quote, text, _LENGTH).found:
                self._quotes.setdefault(name, _Tally()).add(f"{named(sample)}: {shorten(quote, 120)}")

    def findings(self) -> Iterator[AuditFinding]:
        for name, tally in self._guessed.items():
            words = f"{_of(name)}: {plural(tally.n, 'reply', 'replies')} of the judge can only be read by guess"
            yield _finding("guessed", words, tally)
        for name, tally in self._outside.items():
            scorer = self._scorers[name]
            words = f"{_of(name)}: {plural(tally.n, 'value')} outside of its scale, {_scale(scorer)}"
            yield _finding("outside_of_scale", words, tally)
        for name, tally in self._quotes.items():
            words = (
                f"{_of(name)}: {tally.n:,} of {plural(self._n_quotes[name], 'passage')} that the judge seems to quote "
                f"from the answer {'does' if tally.n == 1 else 'do'} not stand there"
            )
            yield _finding("quote_not_found", words, tally)


def answer_quotes(explanation: str) -> Iterator[str]:
    """Passages that an explanation puts between double quotes, in a sentence that says they are the answer's.

    Whose words they are is read from the words before: what names a reference or a question there, or denies, is left
    out. A passage that is taken for a quote may still be none.
    """
    text = explanation[:_LONGEST]
    n = 0
    for found in _QUOTED.finditer(text):
        before = re.split(r"[.!?\n]\s|\n", text[max(0, found.start() - _BEFORE) : found.start()])[-1]
        if not _OF_THE_ANSWER.search(before) or _OF_SOMETHING_ELSE.search(before):
            continue
        quote = found[1].strip().rstrip(".,;:!?")
        if len(quote.split()) >= 3 or not quote.isascii():
            yield quote
            n += 1
            if n == _MOST_QUOTES:
                return


def _with_scale(scorer: LogScorer, claims: Iterable[Claim]) -> LogScorer:
    """A scorer whose mean is called a share of right answers, from 0 to 1, where the log does not say its scale."""
    named = any(one.scorer == scorer.name and one.formula == "mean" and one.metric in _SHARES for one in claims)
    if not named or scorer.lowest is not None or scorer.highest is not None:
        return scorer
    return msgspec.structs.replace(scorer, lowest=0.0, highest=1.0)


def _finding(code: str, words: str, tally: _Tally) -> AuditFinding:
    return AuditFinding(code=code, words=words, n=tally.n, examples=tuple(tally.examples))


def _of(name: str) -> str:
    return shorten(name, _ID) or "the samples"


def _is_outside(value: float, scorer: LogScorer) -> bool:
    return (scorer.lowest is not None and value < scorer.lowest) or (
        scorer.highest is not None and value > scorer.highest
    )


def _scale(scorer: LogScorer) -> str:
    if scorer.lowest is None:
        return f"up to {scorer.highest:.10g}"
    if scorer.highest is None:
        return f"from {scorer.lowest:.10g} on"
    return f"{scorer.lowest:.10g} to {scorer.highest:.10g}"
