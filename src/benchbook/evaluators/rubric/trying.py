"""The question by which a judge is tried before a run: its own prompt about the first item, read as a run reads it."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.ask.probing import Trial
from benchbook.evalsets import EvalSet
from benchbook.evaluators.rubric.asking import endpoint_name
from benchbook.evaluators.rubric.plan import JudgePrompt, Plan, reply_schema
from benchbook.evaluators.rubric.reply import Judged, Rejected, parse_reply
from benchbook.evaluators.rubric.spec import RubricSpec

_ANSWER = "I am not sure. Please ask again in another way."  # where the item has no right answer to show


def trials_of(plan: Plan, spec: RubricSpec, evalset: EvalSet) -> Mapping[str, Trial]:
    """The trial of each judge, by its endpoint's name: the first item, answered as its reference says."""
    with evalset:
        item = evalset[0]
    answer = item.expected_answer or _ANSWER
    prompt = JudgePrompt(spec).render(item, answer)
    schema = reply_schema(spec, len(item.criteria) if spec.by_item else 0)

    def trial(tags: tuple[str, ...]) -> Trial:
        def fault_of(text: str) -> str | None:
            found = parse_reply(text, spec, tags, lone_closing=True, judged=Judged(answer, item))
            return f"{found.reason}: {found.detail}" if isinstance(found, Rejected) else None

        return Trial(prompt, schema, fault_of)

    return {endpoint_name(number): trial(judge.reasoning_tags) for number, judge in enumerate(plan.judges)}
