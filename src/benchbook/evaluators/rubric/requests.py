"""Renders every request of a plan again, from inputs and templates: while running, and to verify."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from benchbook.ask.requests import body_of, generation_of
from benchbook.evalsets import Item
from benchbook.evalsets.conversations import Message, transcript, with_answer
from benchbook.evaluators.candidate import CandidateRequests
from benchbook.evaluators.prompt_templates import PromptTemplate
from benchbook.evaluators.rubric.plan import Plan
from benchbook.evaluators.rubric.spec import Criterion, RubricSpec, reply_schema
from benchbook.specs import as_text

__all__ = ["PLACEHOLDER", "JudgePrompt", "Requests", "placeholders"]


PLACEHOLDER = re.compile(
    r"\{\{(answer|transcript|criteria|reply|item\.(?:" + "|".join(Item.__struct_fields__) + r"))\}\}"
)


class JudgePrompt:
    """What a judge is asked: a rubric's messages, split once, so that a value's own braces are never read (R2.2)."""

    def __init__(self, spec: RubricSpec) -> None:
        self._messages = [(message.role, _Text(message.text, spec)) for message in spec.messages]

    def render(self, item: Item, answer: str) -> str | list[Message]:
        """The text of a message of the user's that stands alone; else all messages. What an item lacks becomes the
        empty string."""
        if [role for role, _ in self._messages] == ["user"]:
            return self._messages[0][1].render(item, answer)
        return [{"role": role, "content": text.render(item, answer)} for role, text in self._messages]


class _Text:
    """One message's text."""

    def __init__(self, text: str, spec: RubricSpec) -> None:
        pieces = PLACEHOLDER.split(text)
        self._literals = pieces[0::2]
        self._values: list[Callable[[Item, str], str]] = [_value(name, spec) for name in pieces[1::2]]

    def render(self, item: Item, answer: str) -> str:
        """The text with each placeholder replaced."""
        pieces = [self._literals[0]]
        for value, literal in zip(self._values, self._literals[1:], strict=True):
            pieces.append(value(item, answer))
            pieces.append(literal)
        return "".join(pieces)


def placeholders() -> tuple[str, ...]:
    """What a judge's messages may have between braces."""
    return ("answer", "transcript", "criteria", "reply", *(f"item.{one}" for one in Item.__struct_fields__))


def criteria_text(spec: RubricSpec) -> str:
    """What `{{criteria}}` stands for: each with what it is called in the reply, its scale and its question."""
    return "\n".join(f"- {one.score_key} ({_scale_text(one)}): {one.question}" for one in spec.criteria)


def _scale_text(one: Criterion) -> str:
    quoted = "" if one.quote is None else f"; with {one.quote_key}, {_quote_words(one)}"
    return ", ".join(map(str, one.given)) + ("; null where it does not apply" if one.may_not_apply else "") + quoted


def _quote_words(one: Criterion) -> str:
    """What a quote is, for the judge."""
    if not one.from_transcript:
        return "words of the answer that show it, copied letter by letter"
    return f"words of one turn that show it, copied letter by letter, and {one.turn_key}, the number of that turn"


def reply_text(spec: RubricSpec) -> str:
    """What `{{reply}}` stands for: the form of the JSON object that the judge is to answer with."""
    parts = [part for one in spec.criteria for part in _reply_parts(one)]
    return "{" + ", ".join([*parts, f'"rationale": "<why, in at most {spec.max_rationale_words} words>"']) + "}"


def _reply_parts(one: Criterion) -> Iterator[str]:
    yield f'"{one.score_key}": <{" | ".join(one.shown_in_reply)}>'
    filled = ('"<the quote>"', "<the number of its turn>")
    for key, what in zip(one.reply_keys[1:], filled, strict=False):
        yield f'"{key}": {what}'


def _value(name: str, spec: RubricSpec) -> Callable[[Item, str], str]:
    if name == "answer":
        return lambda _, answer: answer
    if name == "transcript":
        return lambda item, answer: transcript(with_answer(item.messages, item.prompt, answer))
    if name in ("criteria", "reply"):
        text = criteria_text(spec) if name == "criteria" else reply_text(spec)
        return lambda *_: text
    field = name.removeprefix("item.")

    def of_item(item: Item, _: str) -> str:
        value = getattr(item, field)
        return "" if value is None else as_text(value)

    return of_item


class Requests(CandidateRequests):
    """The bytes of each request that a plan leads to, the judge's too."""

    def __init__(self, plan: Plan, spec: RubricSpec, template: PromptTemplate) -> None:
        super().__init__(plan, template)
        schema = reply_schema(spec)
        self._judges = [(judge, generation_of(judge, schema)) for judge in plan.judges]
        self._judge_prompt = JudgePrompt(spec)

    def judge_prompt(self, item: Item, answer: str) -> str | list[Message]:
        """The evaluator prompt of R2, rendered."""
        return self._judge_prompt.render(item, answer)

    def judge(self, item: Item, answer: str, judge: int = 0) -> bytes:
        """What the plan's judge of this number is asked."""
        role, generation = self._judges[judge]
        return body_of(role, self.judge_prompt(item, answer), generation)
