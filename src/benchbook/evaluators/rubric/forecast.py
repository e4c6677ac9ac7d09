"""A forecast of a run under a rubric: its requests, its cost, and whether its items are enough to be READY."""

from __future__ import annotations

from itertools import chain

import msgspec

from benchbook.ask.forecast import BYTES_PER_TOKEN, Forecast, Workload, asked_models, longest_answer, most_cost
from benchbook.ask.requests import plan_sha256
from benchbook.ask.roles import Roles
from benchbook.evalsets import EvalSet
from benchbook.evalsets.conversations import Message
from benchbook.evaluators.claims import DEFAULT_CONFIDENCE
from benchbook.evaluators.kept import words_of_set
from benchbook.evaluators.rubric.needed import least_for_ready
from benchbook.evaluators.rubric.plan import Plan, Requests, UntilDecided
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.settings import RunConfig
from benchbook.text import one_line, plural

_PROMPT_TOKENS = 300  # of the judge's prompt, beside what the model was asked and what it answered


class ReadyWith(msgspec.Struct, frozen=True, kw_only=True):
    """How many items, or groups of them, there are to show READY with, and how many it takes."""

    n: int
    of: str
    least: int


class Stops(msgspec.Struct, frozen=True, kw_only=True):
    """When a run that asks items in a drawn order ends."""

    once: str
    error: float
    at_most_items: int


class RubricForecast(Forecast, frozen=True, kw_only=True):
    """`ready` is None where READY is not shown by their number: by points, or by a test that looks again and again."""

    first_judge_prompt: str | list[Message]
    ready: ReadyWith | None
    stops: Stops | None

    @property
    def asked_words(self) -> tuple[str, ...]:
        return tuple(f"{words}, parse retries aside" for words in super().asked_words)

    @property
    def outcome_words(self) -> tuple[tuple[str, str], ...]:
        words = []
        if (ready := self.ready) is not None and ready.n < ready.least:
            has = f"{ready.n:,} {ready.of if ready.n != 1 else ready.of.replace('s', '', 1)}"
            words.append(("READY", f"with {has} this run can't be READY: at least {ready.least:,} can"))
        if (stops := self.stops) is not None:
            words += [
                ("stops", f"once {one_line(stops.once)} is shown, with an error of at most {stops.error:g}"),
                ("", f"after {plural(stops.at_most_items, 'item')} at most, in an order drawn by chance"),
            ]
        return tuple(words)


def forecast_of(
    config: RunConfig, plan: Plan, requests: Requests, spec: RubricSpec, whole: EvalSet, roles: Roles
) -> RubricForecast:
    """The forecast of a run, by each of its requests."""
    with whole as evalset:
        bodies = sum(len(requests.candidate(item)) for item in evalset)
        first = evalset[0]
        example = requests.candidate(first).decode("utf-8", "replace")
        judge_prompt = requests.judge_prompt(first, "(the model's answer)")
        ready = _ready(config, spec, evalset)
    n, read = plan.n_samples, bodies * plan.repeats // BYTES_PER_TOKEN
    judged = Workload(n, read + (longest_answer(plan.candidate) + _PROMPT_TOKENS) * n)
    return RubricForecast(
        samples=n,
        calls=len(roles) * n,
        models=asked_models(roles),
        plan_sha256=plan_sha256(plan),
        plan=msgspec.to_builtins(plan),
        first_request=example,
        first_judge_prompt=judge_prompt,
        ready=ready,
        warnings=tuple(chain(*words_of_set(plan.part, whole.contents, judge_sees=spec.judge_sees))),
        stops=_stops(plan, config.against),
        most_cost_usd=most_cost(roles, dict.fromkeys(roles, judged) | {"candidate": Workload(n, read)}),
    )


def _ready(config: RunConfig, spec: RubricSpec, evalset: EvalSet) -> ReadyWith | None:
    if config.confidence == "none" or config.until_decided:
        return None
    lone = sum(item.group is None for item in evalset)
    groups = len({item.group for item in evalset if item.group is not None})
    return ReadyWith(
        n=lone + groups,
        of="groups of items" if groups else "items",
        least=least_for_ready(spec, config.confidence or DEFAULT_CONFIDENCE),
    )


def _stops(plan: Plan, against: str | None) -> Stops | None:
    rule = plan.until_decided
    if not isinstance(rule, UntilDecided):
        return None
    once = "READY or NOT_READY" if against is None else f"better or worse than {against}"
    return Stops(once=once, error=rule.error, at_most_items=plan.n_items)
