"""The warnings that a reader of the numbers must see first, in plain words.

That judges' replies were not read (R3.5) is counted; ten answers in a row end the run, unless they are played back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from benchbook.ask.identity import Role, identity_caps, identity_warnings, self_judging
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.requests import RolePlan
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.gates import Cap
from benchbook.evaluators.rubric.plan import Panel, Plan
from benchbook.evaluators.rubric.rows import Ledger
from benchbook.evaluators.rubric.steps import SampleHistory
from benchbook.evaluators.signs import REJECTED_IN_A_ROW, InARow, Rejection, explained
from benchbook.record.state import JournalState, Reported

_FEW_JUDGED = 5  # fewer say nothing about whether scores vary
# From here on a run in which every sample passes has a lower bound (Wilson, 95 %) above R6.1's pass rate of 0.85.
_FEW_SCORED = 22


Given = Counter[tuple[int | float | None, ...]]
"""How often a judge gave these scores, by criterion."""


def score_warnings(
    given: Mapping[str, Given], names: Sequence[str], ledger: Ledger, n_truncated: int, n_cached: int
) -> list[str]:
    """About samples and scores. `given` counts each judge's scores, by its name in texts; `names` are the
    criteria's."""
    warnings = []
    for judge, counted in given.items():
        if counted.total() >= _FEW_JUDGED:
            warnings += _no_variation(judge, counted, names)
    if ledger.n_attempted and not ledger.n_scored:
        warnings.append("Nothing was scored: no number here says anything about the model.")
    elif ledger.n_attempted and ledger.n_scored == ledger.n_no_answer:
        why = _counted(ledger.no_answer_by_reason)
        warnings.append(f"No answer was scored: zeros stand for answers that did not come ({why}).")
    elif ledger.n_scored < _FEW_SCORED:
        samples = "1 sample was" if ledger.n_scored == 1 else f"{ledger.n_scored} samples were"
        warnings.append(f"Only {samples} scored: look at how wide the intervals are.")
    # Without those that are unanswered: they are reported before anything else.
    if ledger.n_scored and (n_unscored := sum(ledger.unscored_by_reason.values())):
        have = "has" if n_unscored == 1 else "have"
        why = _counted(ledger.unscored_by_reason)
        warnings.append(f"{n_unscored:,} of {ledger.n_attempted:,} samples {have} no score ({why}).")
    if n_truncated:
        answers = "1 answer was" if n_truncated == 1 else f"{n_truncated:,} answers were"
        warnings.append(f"{answers} cut by max_tokens, and judged so.")
    if n_cached:
        answers = "1 answer" if n_cached == 1 else f"{n_cached:,} answers"
        warnings.append(f"{answers} came from the response cache, with the latency of the first time.")
    return warnings


def _counted(reasons: dict[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in reasons.items())


def _no_variation(judge: str, given: Given, names: Sequence[str]) -> list[str]:
    judged = given.total()
    if len(given) == 1:
        (alike,) = given
        scores = ", ".join(
            f"{name} {'null' if score is None else score}" for name, score in zip(names, alike, strict=True)
        )
        doubt = "it may not tell good answers from bad ones, and then this decision says nothing about the model"
        return [f"The {judge} gave all {judged:,} answers the same scores ({scores}): {doubt}."]
    by_criterion = zip(names, zip(*given, strict=True), strict=True)
    return [
        f"The {judge} gave all {judged:,} answers the same {name} score ({scores[0]})."
        for name, scores in by_criterion
        if len(set(scores)) == 1 and scores[0] is not None
    ]


def state_warnings(state: JournalState, plan: Plan) -> list[str]:
    """Warnings about who answered."""
    warnings = []
    for name, reported in reported_by_name(state, plan):
        if reported.changed:
            kinds = ", ".join(
                f"{model or '?'} ({fingerprint or 'no fingerprint'}) x {count}"
                for (model, fingerprint), count in sorted(reported.counts.items(), key=lambda pair: -pair[1])[:5]
            )
            warnings.append(f"The {name} changed during the run: {kinds}.")
    if derivation_of(state.started) >= 3:
        model, *judges = roles_of(state, plan)
        identity = state.started.identity
        return warnings + identity_warnings(identity, [model, *judges]) + self_judging(identity, model, judges)
    warnings += [
        f"The {name} is the model itself: models tend to favour their own answers."
        for name, judge in zip(judge_names(plan), plan.judges, strict=True)
        if plan.candidate.model_id == judge.model_id
    ]
    return warnings


def judge_names(plan: Plan) -> list[str]:
    """The name of each judge in texts, by its number: "judge", or of a panel "judge NAME"."""
    return [f"judge {name}" for name in plan.panel.names] if isinstance(plan.panel, Panel) else ["judge"]


def reported_by_name(state: JournalState, plan: Plan) -> list[tuple[str, Reported]]:
    """The identities that the model and each judge reported, by their names in texts."""
    judges = [(name, state.judges_reported[judge]) for judge, name in enumerate(judge_names(plan))]
    return [("model", state.candidate_reported), *judges]


def roles_of(state: JournalState, plan: Plan) -> list[Role]:
    """The model, then each judge: its name in texts, its id, and the identity that it reported."""
    asked = (plan.candidate, *plan.judges)
    return [
        (name, parse_model_id(role.model_id, name), reported)
        for role, (name, reported) in zip(asked, reported_by_name(state, plan), strict=True)
    ]


BENCHMARK_REPEATS = 3  # source 000: N >= 3, unless the task has no variance


def benchmark_caps(state: JournalState, plan: Plan) -> list[Cap]:
    """The caps that make INCONCLUSIVE the best possible decision of a benchmark."""
    caps = [Cap("another_model", text) for text in identity_caps(roles_of(state, plan))]
    if plan.repeats < BENCHMARK_REPEATS and plan.no_variance is not True:
        asked = "once" if plan.repeats == 1 else f"{plan.repeats} times"
        text = (
            f"a benchmark asks for {BENCHMARK_REPEATS} repeats at least, and this one asked {asked} "
            "(no_variance = true declares that answers do not vary)"
        )
        caps.append(Cap("few_repeats", text))
    return caps


# ── judges' replies that were not read ───────────────────────────────────────────────────────────────────────


_OF_QUOTES: Mapping[str, tuple[str, str]] = {
    "quote_not_found": (
        "quote_not_found: its quote does not stand in what it judged",
        'quote = "report" in the rubric, which counts them, or another judge',
    ),
    "bad_quote": (
        "bad_quote: what it gave is no quote",
        "a prompt that asks for some words of the answer, letter by letter, or another judge",
    ),
}


def rejections_of(history: SampleHistory) -> list[Rejection]:
    """A rejection for every judge whose replies to this answer were all rejected."""
    found = []
    for number, judging in enumerate(history.judges):
        if judging.error == "parse_error" and judging.rejected is not None:
            plan = history.plan
            said, mended = _OF_QUOTES.get(judging.rejected.reason) or explained(
                judging.replies[-1][0], judging.rejected.reason, judging.rejected.detail, plan.judges[number],
                _setting(plan, number),
            )  # fmt: skip
            found.append(Rejection(number, judging.rejected.reason, said, mended))
    return found


def _setting(plan: Plan, judge: int) -> str:
    """The beginning of the names of this judge's settings."""
    return f"judges[{judge}]." if isinstance(plan.panel, Panel) else "judge_"


class RejectedCounts:
    """Counts, as samples go by, the answers for which a judge's replies could not be read, by what was wrong.

    Now and then this happens, and counts among what was not scored; at half of the answers, something is set wrong.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._counts: Counter[tuple[int, str, str]] = Counter()
        self._n_judged = [0] * len(names)

    def add(self, history: SampleHistory) -> None:
        for number, judging in enumerate(history.judges):
            self._n_judged[number] += bool(judging.replies)
        for one in rejections_of(history):
            self._counts[one.judge, one.said.partition(":")[0], one.mended] += 1

    def add_read(self, judge: int, n: int) -> None:
        """Count answers of which this judge's reply was read."""
        self._n_judged[judge] += n

    def merge(self, more: RejectedCounts) -> None:
        """Add what was counted of other samples."""
        self._counts.update(more._counts)
        self._n_judged = [n + others for n, others in zip(self._n_judged, more._n_judged, strict=True)]

    def warnings(self) -> list[str]:
        """One warning for each kind, the most frequent first."""
        return [
            f"Of {n:,} {'answer' if n == 1 else 'answers'} no reply of the {self._names[judge]} could be read: {said}. "
            f"What may mend it, in a new run: {mended}."
            for (judge, said, mended), n in sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))
            if 2 * n >= self._n_judged[judge]
        ]


class RejectedReplies:
    """Looks at every sample that is finished in a sitting. `names` are the names of `judges` in texts."""

    def __init__(self, names: Sequence[str], judges: Sequence[RolePlan]) -> None:
        self._names = names
        self._row = InARow(judges)

    def note(self, history: SampleHistory) -> str | None:
        """The reason to stop the run, once there is one."""
        for number, judging in enumerate(history.judges):
            if judging.parsed is not None:
                self._row.was_read(number)
        for one in rejections_of(history):
            if self._row.is_enough_with(one):
                return (
                    f"both replies of the {self._names[one.judge]} were rejected for {REJECTED_IN_A_ROW} answers in a "
                    f"row ({one.said}). What may mend it: {one.mended}. A judge is asked twice at most: "
                    "start a new run with it"
                )
        return None
