"""Tries a model before a run: a few small calls that tell whether it answers, and what would fail every sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import msgspec

from benchbook.ask.identity import other_model
from benchbook.ask.model_id import parse_model_id, unpinned_because
from benchbook.ask.providers.calls import Answer, CallFailed, Provider
from benchbook.ask.providers.keys import NO_KEYS
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.ask.requests import RolePlan, schema_asked
from benchbook.ask.roles import RoleSettings
from benchbook.ask.unanswered import Who, advice_on, said_by
from benchbook.evalsets.conversations import Message
from benchbook.record.state import Reported
from benchbook.text import plural, sentences, shorten

_HELLO = "Say hello."
_SHORT = 16  # tokens that are enough to see that a model answers
_MOST_REFUSED = 8  # parameters; a server that refuses all that it is sent is not asked for ever
_SCHEMA = "response_format"  # the parameter by which JSON is asked for


@dataclass(frozen=True, slots=True)
class Trial:
    """A question such as a run puts to a judge. `fault_of` reads a reply as the run would: what is wrong with it, in
    words, or None."""

    asked: str | Sequence[Message]
    schema: Mapping[str, Any]
    fault_of: Callable[[str], str | None]


@runtime_checkable
class Tries(Protocol):
    """A prepared run that can say what its judges would be asked, by the names of its roles."""

    def trials(self) -> Mapping[str, Trial]: ...


class RefusedParameter(msgspec.Struct, frozen=True, kw_only=True):
    """A generation parameter that the server refuses beside the others, with its words, and what to set."""

    parameter: str
    detail: str
    remedy: str


class TriedReply(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's reply to its own prompt. `fault`: why it would not be scored; `fenced`: it is in a Markdown fence."""

    fault: str | None
    fenced: bool


class ModelProbe(msgspec.Struct, frozen=True, kw_only=True):
    """The findings about one model. `faults` would end a run or leave its samples without a score, each with what to
    do; `notes` are what to know. What was not seen is null."""

    model: str
    calls: int
    faults: list[str]
    notes: list[str]
    ok: bool
    error: str | None = None  # in the words of the server, or of this machine
    cause: str | None = None  # of `record.facts.FailureCause`
    latency_ms: int | None = None
    reported: str | None = None
    tells_tokens: bool | None = None
    tells_model_time: bool | None = None
    key_is_a_word: bool | None = None
    takes_json_schema: bool | None = None
    reply: TriedReply | None = None
    refused: list[RefusedParameter] = []


def not_opened(role: RolePlan, why: str) -> ModelProbe:
    """The findings about a model that can't even be asked: its key is missing, or what would run it."""
    return ModelProbe(model=role.model_id, calls=0, faults=[why], notes=[], ok=False, error=why)


async def probe(
    provider: Provider, settings: RoleSettings, role: RolePlan, who: Who, trial: Trial | None, *, benchmark: bool
) -> ModelProbe:
    """Ask a model as a run would, without what it refuses, until it answers; a judge once more for its JSON mode."""
    asked = _Asked(provider, role, who, trial)
    try:
        answer = await asked.answer()
    except CallFailed as failed:
        detail = shorten(failed.detail, 300)
        fault = sentences(said_by(who, failed.cause, failed.detail), advice_on(who, failed.cause, failed.parameter))
        return ModelProbe(
            model=role.model_id, calls=asked.calls, ok=False, error=detail, cause=failed.cause, refused=asked.refused,
            faults=[*asked.faults, fault], notes=[],
        )  # fmt: skip
    reply = None if trial is None else _read(trial, answer)
    takes = None if reply is None else await asked.takes_schema(reply)
    key_is_a_word = getattr(provider, "keys", NO_KEYS).is_a_word
    faults = [*asked.faults, *_unpinned(role, answer, benchmark=benchmark), *_unread(reply, answer, who, takes)]
    return ModelProbe(
        model=role.model_id,
        calls=asked.calls,
        faults=faults,
        notes=list(_notes(settings, role, answer, key_is_a_word=key_is_a_word)),
        ok=not faults,
        latency_ms=answer.latency_e2e_ms,
        reported=answer.model_reported,
        tells_tokens=answer.output_tokens is not None,
        tells_model_time=answer.latency_model_ms is not None,
        key_is_a_word=key_is_a_word,
        takes_json_schema=takes,
        reply=reply,
        refused=asked.refused,
    )


class _Asked:
    """The calls to one model, and the parameters that it refused."""

    def __init__(self, provider: Provider, role: RolePlan, who: Who, trial: Trial | None) -> None:
        self.calls = 0
        self.refused: list[RefusedParameter] = []
        self._provider, self._role, self._who, self._trial = provider, role, who, trial
        self._params = dict(role.params)
        self._schema = None if trial is None else schema_asked(role, trial.schema)
        if trial is None and isinstance(self._params.get("max_tokens"), int):
            self._params["max_tokens"] = min(_SHORT, self._params["max_tokens"])

    @property
    def faults(self) -> list[str]:
        """Each refusal in words: as the settings are, a run ends at its first call."""
        return [
            sentences(f"{self._who.words} refuses {one.parameter}: {one.detail}", one.remedy) for one in self.refused
        ]

    async def answer(self) -> Answer:
        """Its answer, asked again without each parameter that it refuses. Raises: CallFailed."""
        while True:
            try:
                return await self._call(self._schema)
            except CallFailed as failed:
                if not self._leaves_out(failed):
                    raise

    async def takes_schema(self, reply: TriedReply) -> bool | None:
        """True if the judge gives what can be read where its server is asked for a JSON schema; it is asked so once
        more where the run would not. None where nothing came, by another's doing than the schema's."""
        assert self._trial is not None  # noqa: S101 - only judges are tried
        if any(one.parameter == _SCHEMA for one in self.refused):
            return False
        if self._schema is not None:
            return reply.fault is None
        schema = schema_asked(msgspec.structs.replace(self._role, json_schema=True), self._trial.schema)
        try:
            answer = await self._call(schema)
        except CallFailed as failed:
            return False if failed.cause in ("parameter", "request") else None
        return _read(self._trial, answer).fault is None

    async def _call(self, schema: Mapping[str, Any] | None) -> Answer:
        self.calls += 1
        asked = _HELLO if self._trial is None else self._trial.asked
        return await self._provider.ask(chat_body(self._role.name, asked, self._params, schema))

    def _leaves_out(self, failed: CallFailed) -> bool:
        """Leave the refused parameter out from now on; False where it is about something else."""
        name = failed.parameter
        if failed.cause != "parameter" or name is None or len(self.refused) >= _MOST_REFUSED:
            return False
        if name == _SCHEMA and self._schema is not None:
            self._schema = None
        elif name in self._params:
            del self._params[name]
        else:
            return False
        remedy = advice_on(self._who, "parameter", name)
        self.refused.append(RefusedParameter(parameter=name, detail=shorten(failed.detail, 300), remedy=remedy))
        return True


def _read(trial: Trial, answer: Answer) -> TriedReply:
    text = answer.text or ""
    return TriedReply(fault=trial.fault_of(text), fenced=text.lstrip().startswith("```"))


def _unpinned(role: RolePlan, answer: Answer, *, benchmark: bool) -> list[str]:
    why = unpinned_because(
        parse_model_id(role.model_id, "model"), answer.model_reported, answer.fingerprint, benchmark=benchmark
    )
    return [] if why is None else [why]


def _unread(reply: TriedReply | None, answer: Answer, who: Who, takes_schema: bool | None) -> list[str]:
    """The fault of a judge's reply that can't be read, and what may mend it."""
    if reply is None or reply.fault is None:
        return []
    text = (answer.text or "").lstrip()
    what = "its JSON stands in a Markdown fence, and is read strictly" if reply.fenced else reply.fault
    if text.startswith("<") and ">" in text[:40]:
        tag = shorten(text[1 : text.index(">")], 30)
        remedy = f"Where that is a tag around its thoughts, declare it ({who.option('reasoning_tags', tag)})."
    elif answer.finish_reason == "length":
        remedy = f"It came to the limit of its tokens: raise max_tokens ({who.option('params', 'max_tokens=2048')})."
    elif takes_schema:
        remedy = f"With a JSON schema it can be read: {who.prefix}json_schema = true in the config."
    else:
        remedy = "Its server takes no JSON schema that would mend it: another judge is needed, or a prompt of your own."
    return [sentences(f"a reply of {who.words} can't be read, so that nothing would be scored: {what}", remedy)]


def _notes(settings: RoleSettings, role: RolePlan, answer: Answer, *, key_is_a_word: bool) -> list[str]:
    found = []
    reported = Reported()
    reported.add(answer.model_reported, answer.fingerprint)
    if (other := other_model(parse_model_id(role.model_id, settings.setting), reported)) is not None:
        found.append(str(other))
    if answer.output_tokens is None and settings.prefix == "model_":
        found.append('it tells no tokens: where they count, no sample passes; unmeasured = ["tokens"] leaves them out')
    if key_is_a_word:
        found.append("its key is a short word, as for a server that needs none: it stays where answers say it")
    return found


def calls_words(probes: Mapping[str, ModelProbe]) -> str:
    """`5 calls: 2 of the model, 3 of the judge`."""
    total = sum(one.calls for one in probes.values())
    each = ", ".join(f"{one.calls} of the {name}" for name, one in probes.items())
    return f"{plural(total, 'call')}: {each}" if len(probes) > 1 else plural(total, "call")
