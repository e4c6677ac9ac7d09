"""The plan: all that decides which requests are sent; and each of them, rendered again from inputs and templates.

The plan is in the record's first fact, and its hash names it. Requests are rendered while running, and to verify.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

import msgspec

from benchbook.ask.request_pieces import RequestPieces, TextPart
from benchbook.ask.requests import RolePlan, body_of, request_sha256, schema_asked
from benchbook.canonical import ready
from benchbook.evalsets import Item
from benchbook.evalsets.conversations import Message, transcript, with_answer
from benchbook.evalsets.requirements import read_criteria
from benchbook.evaluators.candidate import CandidatePlan, CandidateRequests, PromptTemplate
from benchbook.evaluators.panel_rules import PanelRule
from benchbook.evaluators.rubric.criteria import Criterion
from benchbook.evaluators.rubric.early_stop_pairs import OtherRun
from benchbook.evaluators.rubric.reply import ITEM_CRITERIA
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.record.facts import RunStarted
from benchbook.specs import as_text


class UntilDecided(msgspec.Struct, frozen=True, kw_only=True):
    """The run ends once it is decided, with at most the chance `error` of another decision than all items would give;
    or, with `against`, once it is shown better or worse than that run, with `error` where there is no difference.

    Items are then asked in an order that `seed` draws, all repeats of one before the next.
    """

    error: float
    seed: int
    method: str  # of `early_stop_gates`, or of `early_stop_pairs`
    against: OtherRun | msgspec.UnsetType = msgspec.UNSET


_Judged = tuple[Item, str]  # an item and the answer to it


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """Further judges beside the plan's `judge`, the names of all of them, and how their scores make one."""

    names: tuple[str, ...]  # of all, the plan's `judge` first; no two alike
    others: tuple[RolePlan, ...]
    rule: PanelRule


class Plan(CandidatePlan, frozen=True, kw_only=True):
    """A rubric's plan: a judge, or a panel of them, scores what the candidate answered."""

    judge: RolePlan
    unmeasured: tuple[str, ...] = ()
    until_decided: UntilDecided | msgspec.UnsetType = msgspec.UNSET  # left out, and of no weight in the hash, if not so
    panel: Panel | msgspec.UnsetType = msgspec.UNSET  # left out where there is one judge
    no_variance: bool | msgspec.UnsetType = msgspec.UNSET  # declared: no repeat would answer otherwise (R7.3)

    @property
    def judges(self) -> tuple[RolePlan, ...]:
        """All judges, by their numbers."""
        return (self.judge, *self.panel.others) if isinstance(self.panel, Panel) else (self.judge,)


def plan_of(started: RunStarted) -> Plan:
    """The plan in a record's first fact."""
    return msgspec.convert(started.identity["plan"], ready(Plan))


# ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────


class Requests(CandidateRequests):
    """The bytes of each request that a plan leads to, the judge's too."""

    def __init__(self, plan: Plan, spec: RubricSpec, template: PromptTemplate) -> None:
        super().__init__(plan, template)
        schema = reply_schema(spec)
        self._spec = spec
        self._judges = [(judge, schema_asked(judge, schema)) for judge in plan.judges]
        self._judge_prompt = JudgePrompt(spec)
        self._judge_pieces = [] if spec.by_item else [RequestPieces(*self._pieces_of(one)) for one in self._judges]

    def _pieces_of(
        self, judge: tuple[RolePlan, Mapping[str, Any] | None]
    ) -> tuple[Callable[[Sequence[str]], bytes], list[list[TextPart[_Judged]]]]:
        """The arguments of `RequestPieces` for one judge's requests."""
        role, asked = judge
        return lambda texts: body_of(role, self._judge_prompt.with_texts(texts), asked), self._judge_prompt.parts()

    def judge_prompt(self, item: Item, answer: str) -> str | list[Message]:
        """The evaluator prompt of R2, rendered."""
        return self._judge_prompt.render(item, answer)

    def judge(self, item: Item, answer: str, judge: int = 0) -> bytes:
        """The request to the plan's judge of this number."""
        role, asked = self._judges[judge]
        if self._spec.by_item:
            asked = schema_asked(role, reply_schema(self._spec, len(item.criteria)))
        return body_of(role, self.judge_prompt(item, answer), asked)

    def judge_sha256(self, item: Item, answer: str, judge: int = 0) -> str:
        """The hash of the same."""
        if self._judge_pieces:
            with suppress(UnicodeEncodeError):
                return self._judge_pieces[judge].sha256((item, answer))
        return request_sha256(self.judge(item, answer, judge))

    def judge_sha256s(self, judged: Sequence[_Judged]) -> list[str]:
        """The hashes of the requests to the first judge about several answers."""
        if self._judge_pieces:
            with suppress(UnicodeEncodeError):
                return self._judge_pieces[0].sha256s(judged)
        return [self.judge_sha256(item, answer) for item, answer in judged]


# ── what a judge is asked ────────────────────────────────────────────────────────────────────────────────────


PLACEHOLDER = re.compile(
    r"\{\{(answer|transcript|criteria|reply|item\.(?:" + "|".join(Item.__struct_fields__) + r"))\}\}"
)


class JudgePrompt:
    """A judge's prompt: a rubric's messages, split once, so that a value's own braces are never read (R2.2)."""

    def __init__(self, spec: RubricSpec) -> None:
        self._messages = [(message.role, _Text(message.text, spec)) for message in spec.messages]

    def render(self, item: Item, answer: str) -> str | list[Message]:
        """The text of a message of the user's that stands alone; else all messages. What an item lacks becomes the
        empty string."""
        return self.with_texts([text.render(item, answer) for _, text in self._messages])

    def with_texts(self, texts: Sequence[str]) -> str | list[Message]:
        """The same with these texts of its messages."""
        if [role for role, _ in self._messages] == ["user"]:
            return texts[0]
        return [{"role": role, "content": text} for (role, _), text in zip(self._messages, texts, strict=True)]

    def parts(self) -> list[list[TextPart[_Judged]]]:
        """The parts of each message's text, made of an item and the answer to it."""
        return [text.parts() for _, text in self._messages]


class _Text:
    """One message's text."""

    def __init__(self, text: str, spec: RubricSpec) -> None:
        pieces = PLACEHOLDER.split(text)
        self._literals = pieces[0::2]
        self._values = [_value(name, spec) for name in pieces[1::2]]

    def render(self, item: Item, answer: str) -> str:
        """The text with each placeholder replaced."""
        pieces = [self._literals[0]]
        for value, literal in zip(self._values, self._literals[1:], strict=True):
            pieces.append(value((item, answer)))
            pieces.append(literal)
        return "".join(pieces)

    def parts(self) -> list[TextPart[_Judged]]:
        found: list[TextPart[_Judged]] = [self._literals[0]]
        for value, literal in zip(self._values, self._literals[1:], strict=True):
            found += [value, literal]
        return found


def placeholders() -> tuple[str, ...]:
    """The names that a judge's messages may have between braces."""
    return ("answer", "transcript", "criteria", "reply", *(f"item.{one}" for one in Item.__struct_fields__))


def _value(name: str, spec: RubricSpec) -> Callable[[_Judged], str]:
    if name == "answer":
        return itemgetter(1)
    if name == "transcript":
        return lambda judged: transcript(with_answer(judged[0].messages, judged[0].prompt, judged[1]))
    if name in ("criteria", "reply"):
        render = _criteria_text if name == "criteria" else _reply_text
        if spec.by_item:
            return lambda judged: render(spec, judged[0])
        text = render(spec)
        return lambda _: text
    field = name.removeprefix("item.")

    def of_item(judged: _Judged) -> str:
        value = getattr(judged[0], field)
        return value if type(value) is str else "" if value is None else as_text(value)

    return of_item


def _criteria_text(spec: RubricSpec, item: Item | None = None) -> str:
    """The text for `{{criteria}}`: each criterion with its key in the reply, its scale and its question; then the
    item's own, where it is scored by those."""
    lines = [f"- {one.score_key} ({_scale_text(one)}): {one.question}" for one in spec.asked]
    return "\n".join([*lines, *([_item_criteria_text(item)] if spec.by_item and item is not None else [])])


def _scale_text(one: Criterion) -> str:
    quoted = "" if one.quote is None else f"; with {one.quote_key}, {_quote_words(one)}"
    return ", ".join(map(str, one.given)) + ("; null where it does not apply" if one.may_not_apply else "") + quoted


def _quote_words(one: Criterion) -> str:
    """A description of a quote, for the judge."""
    if not one.from_transcript:
        return "words of the answer that show it, copied letter by letter"
    return f"words of one turn that show it, copied letter by letter, and {one.turn_key}, the number of that turn"


def _item_criteria_text(item: Item) -> str:
    """The item's own criteria by their numbers. Their weights are no business of the judge's."""
    lines = [f"  {number}. {one.text}" for number, one in enumerate(read_criteria(item.criteria), start=1)]
    return "\n".join([f"- {ITEM_CRITERIA} (of each, by its number: true where it holds of the answer):", *lines])


def _reply_text(spec: RubricSpec, item: Item | None = None) -> str:
    """The text for `{{reply}}`: the form of the JSON object that the judge is to answer with."""
    parts = [part for one in spec.asked for part in _reply_parts(one)]
    if spec.by_item and item is not None:
        parts.append(_item_criteria_reply(item, spec))
    return "{" + ", ".join([*parts, f'"rationale": "<why, in at most {spec.max_rationale_words} words>"']) + "}"


def _reply_parts(one: Criterion) -> Iterator[str]:
    yield f'"{one.score_key}": <{" | ".join(one.shown_in_reply)}>'
    filled = ('"<the quote>"', "<the number of its turn>")
    for key, what in zip(one.reply_keys[1:], filled, strict=False):
        yield f'"{key}": {what}'


def _item_criteria_reply(item: Item, spec: RubricSpec) -> str:
    """The part of the reply's form that is about the item's own criteria."""
    rationale = f'"rationale": "<why, in at most {spec.max_rationale_words} words>", ' if spec.item_rationales else ""
    parts = (f'"{number}": {{{rationale}"met": <true | false>}}' for number in range(1, len(item.criteria) + 1))
    return f'"{ITEM_CRITERIA}": {{{", ".join(parts)}}}'


# ── the schema of the reply ──────────────────────────────────────────────────────────────────────────────────


def reply_schema(spec: RubricSpec, n_item_criteria: int = 0) -> dict[str, Any]:
    """The JSON Schema of a judge's reply, as it is asked for where a server takes one (R2.3). `n_item_criteria`: how
    many criteria of its own the item has."""
    of_criteria = {key: schema for one in spec.asked for key, schema in _criterion_schema(one)}
    of_criteria |= {one.name: _item_schema(spec, n_item_criteria) for one in spec.criteria if one.by_item}
    return {
        "type": "object",
        "properties": of_criteria | {"rationale": {"type": "string"}},
        "required": list(spec.reply_keys),
        "additionalProperties": False,
    }


def _item_schema(spec: RubricSpec, n_criteria: int) -> dict[str, Any]:
    parts: dict[str, Any] = {"rationale": {"type": "string"}} if spec.item_rationales else {}
    parts |= {"met": {"type": "boolean"}}
    one = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
    numbers = [str(number) for number in range(1, n_criteria + 1)]
    return {
        "type": "object",
        "properties": dict.fromkeys(numbers, one),
        "required": numbers,
        "additionalProperties": False,
    }


def _criterion_schema(one: Criterion) -> Iterator[tuple[str, dict[str, Any]]]:
    yield one.score_key, _score_schema(one)
    for key, kind in zip(one.reply_keys[1:], ("string", "integer"), strict=False):
        yield key, {"type": [kind, "null"] if one.may_not_apply else kind}


def _score_schema(one: Criterion) -> dict[str, Any]:
    kind = "string" if one.grades else "integer"
    if one.may_not_apply:
        return {"type": [kind, "null"], "enum": [*one.given, None]}
    return {"type": kind, "enum": list(one.given)}
