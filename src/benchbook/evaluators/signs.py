"""Signs in replies of how they came, which a reader must know before the numbers, and what mends it (R1.4, R3.5).

A run's settings, or its server's, are at fault where nothing was measured, thoughts were judged, a text never came, or
a judge's replies can't be read. Of answers this is said from derivation 3 on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchbook.ask.requests import RolePlan
from benchbook.evaluators.derivation import DERIVATION, cited
from benchbook.record.facts import Reply

# The marks that models put around their thoughts: <think>, </think>, [THINK], ◁think▷, <|channel|>analysis.
_THOUGHTS = re.compile(
    r"<(?P<closing>/?)(?P<tag>think|thinking|thought|thoughts|reasoning|reflection|scratchpad|seed:think)>"
    r"|\[/?THINK\]|◁/?think▷|<\|channel\|>analysis",
    re.IGNORECASE,
)

_DECLARABLE = 4  # the derivation since which tokens of any model may be declared unmeasured
_DECLARE = 'declare it: unmeasured = ["tokens"].'
_WITH_TOKENS = '{"text": …, "input_tokens": …, "output_tokens": …}'


class AnswerSigns:
    """Counts answers by what they show, while their samples go by. `done` is what was done with them: `judged`."""

    def __init__(
        self,
        model: RolePlan,
        unmeasured: tuple[str, ...] = (),
        *,
        done: str = "judged",
        derivation: int = DERIVATION,
    ) -> None:
        self._model = model
        self._unmeasured = unmeasured
        self._done = done
        self._derivation = derivation
        self._n_replies = self._n_with_tokens = self._n_with_latency = 0
        self._n_cut_before_text = self._n_text_apart = 0
        self._marks: Counter[tuple[str, str | None]] = Counter()  # as it stands in the answer, and the tag's name
        self.n_cut_and_judged = 0

    def add(self, reply: Reply, answer: str | None) -> None:
        """Count one answer: `answer` is its text without declared thoughts; None where there is none."""
        self._n_replies += 1
        self._n_with_tokens += reply.input_tokens is not None and reply.output_tokens is not None
        self._n_with_latency += reply.latency_e2e_ms is not None
        if answer is None:
            self._add_without_text(reply)
            return
        self.n_cut_and_judged += reply.finish_reason == "length"
        if (mark := _mark_in(answer)) is not None:
            self._marks[mark] += 1

    def add_all(self, replies: Sequence[Reply]) -> None:
        """Count answers that have a text, and no declared thoughts in it."""
        self._n_replies += len(replies)
        self._n_with_tokens += sum([one.input_tokens is not None and one.output_tokens is not None for one in replies])
        self._n_with_latency += sum([one.latency_e2e_ms is not None for one in replies])
        self.n_cut_and_judged += sum([one.finish_reason == "length" for one in replies])
        for one in replies:
            text = one.text or ""
            if ("<" in text or "[" in text or "◁" in text) and (mark := _mark_in(text)) is not None:
                self._marks[mark] += 1

    def merge(self, more: AnswerSigns) -> None:
        """Add what was counted of other answers."""
        self._n_replies += more._n_replies
        self._n_with_tokens += more._n_with_tokens
        self._n_with_latency += more._n_with_latency
        self._n_cut_before_text += more._n_cut_before_text
        self._n_text_apart += more._n_text_apart
        self._marks.update(more._marks)
        self.n_cut_and_judged += more.n_cut_and_judged

    def _add_without_text(self, reply: Reply) -> None:
        if reply.finish_reason == "length":
            self._n_cut_before_text += 1
        elif reply.reasoning_characters:
            self._n_text_apart += 1

    def first_warnings(self) -> Iterator[str]:
        """The warnings that stand before anything else: nothing was measured (R1.4)."""
        if not self._n_replies:
            return
        measured = {"latency": self._n_with_latency, "tokens": self._n_with_tokens}
        lacking = [name for name, n in measured.items() if not n and name not in self._unmeasured]
        if not lacking:
            return
        why = f"so that no sample can pass{cited('R1.4', self._derivation)}"
        if self._model.provider == "recorded":
            names = ", ".join(f'"{name}"' for name in lacking)
            yield (
                f"The recorded outputs tell no {' and no '.join(lacking)}, {why}. If that was never measured, declare "
                f"it: unmeasured = [{names}]."
            )
        elif "tokens" in lacking and self._derivation < _DECLARABLE:
            yield f"No usage came from the model's server: tokens are not measured, {why}."
        elif "tokens" in lacking and self._model.provider == "python":
            yield (
                f"The function returns no token counts, {why}. Return them beside the text ({_WITH_TOKENS}), or "
                f"{_DECLARE}"
            )
        elif "tokens" in lacking:
            unseen = f"No usage came from the model's server: tokens are not measured, {why}"
            yield f"{unseen}. If it never comes, {_DECLARE}"

    def warnings(self) -> Iterator[str]:
        for (mark, tag), n in sorted(self._marks.items(), key=lambda pair: (-pair[1], pair[0][0])):
            were = f"thoughts were {self._done} as part of {_it(n)}"
            yield f"{_answers(n, 'holds', 'hold')} {mark}: {were}{self._advice(tag)}."
        if n := self._n_cut_before_text:
            yield (
                f"{_answers(n, 'was', 'were')} cut by max_tokens before any text came: thoughts count, too; raise it "
                "(model_params)."
            )
        if n := self._n_text_apart:
            yield (
                f"{_answers(n, 'came', 'came')} without text; the text stood apart, as thoughts (reasoning_content or "
                "the like): set the server's reasoning parser right, or turn thinking off."
            )

    def _advice(self, tag: str | None) -> str:
        if tag is None:
            return "; have the server send them apart"
        if tag in self._model.reasoning_tags:
            declared = f"<{tag}>…</{tag}>{cited('R3.7', self._derivation)}"
            return f", for it does not begin with {declared}; have the server send them apart"
        return f'; declare model_reasoning_tags = ["{tag}"], or have the server send them apart'


def _mark_in(answer: str) -> tuple[str, str | None] | None:
    """The mark of thoughts that ends them, if there is one, else the first."""
    if not ("<" in answer or "[" in answer or "◁" in answer):
        return None
    first: tuple[str, str | None] | None = None
    for found in _THOUGHTS.finditer(answer):
        mark = found[0].lower(), found["tag"] and found["tag"].lower()
        if found["closing"]:
            return mark
        first = first or mark
    return first


def _answers(n: int, one: str, many: str) -> str:
    return f"1 answer {one}" if n == 1 else f"{n:,} answers {many}"


def _it(n: int) -> str:
    return "it" if n == 1 else "them"


_TAG = re.compile(r"\s*<([A-Za-z][\w:-]{0,30})>")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rejection:
    """The reason for which no reply of a judge was read. `said` and `mended` are the same for all of a kind."""

    judge: int
    reason: str  # of R3.5's closed list; of an evaluation, the code of what was found
    said: str
    mended: str


def explained(reply: Reply, reason: str, detail: str, judge: RolePlan, prefix: str) -> tuple[str, str]:
    """The fault of a reply, and what mends it."""
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
    """Counts, for each judge, how many of its replies in a row were rejected for one reason.

    This saves what asking on would cost. Replies that are played back cost nothing and have no setting that mends them:
    they are never enough, and what can't be read of them is counted at the end.
    """

    def __init__(self, judges: Sequence[RolePlan]) -> None:
        self._is_played_back = [judge.is_played_back for judge in judges]
        self._in_a_row = [0] * len(judges)
        self._last_reason: list[str | None] = [None] * len(judges)

    def was_read(self, judge: int) -> None:
        self._in_a_row[judge], self._last_reason[judge] = 0, None

    def is_enough_with(self, one: Rejection) -> bool:
        again = one.reason == self._last_reason[one.judge]
        self._in_a_row[one.judge] = self._in_a_row[one.judge] + 1 if again else 1
        self._last_reason[one.judge] = one.reason
        return self._in_a_row[one.judge] >= REJECTED_IN_A_ROW and not self._is_played_back[one.judge]
