"""How the candidate is asked, whatever is made of its answers: its prompt, plan, requests, settings."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import msgspec

from benchbook.ask.request_pieces import RequestPieces, TextPart
from benchbook.ask.requests import RolePlan, body_of, request_sha256
from benchbook.ask.roles import RoleSettings
from benchbook.ask.settings import ModelConfig
from benchbook.canonical import ready
from benchbook.errors import ConfigError
from benchbook.evalsets import EvalSet, Item
from benchbook.evalsets.conversations import Message
from benchbook.evalsets.opening import evalset_path
from benchbook.evalsets.set_parts import PartAsked, PartSaid, SetPart, choose_part
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.settings import RunConfig
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record, SeenFile, seen
from benchbook.specs import Template, as_text, load_spec
from benchbook.specs.faults import NoTomlError, toml_values
from benchbook.text import quoted

CANDIDATE_PROMPT = "candidate_prompt@v1"
ITEM = "item"  # of a template's messages: the item itself, its prompt or its own messages
_TEMPLATE_ROLES = ("system", "developer", "user", "assistant")
PROMPT_NAMES = ("prompt", "context", "id", "category")  # what an item's `{{name}}` may be
_NAMED = re.compile(r"\{\{([\w .:-]+)\}\}")


class PromptTemplate:
    """How an item is put to the candidate: the user's own template, or the frozen `candidate_prompt@v1`.

    A template is a text, which becomes one user message, or a TOML file with `[[messages]]` (`_read_messages`). Its
    placeholders are PROMPT_NAMES. `conversations`: items may have messages of their own, which are then what is asked.
    `text` is the template as it is read, of the frozen one that for items with a context.
    """

    def __init__(
        self, template_id: str, text: str | None, *, conversations: bool = False, of_messages: bool = False
    ) -> None:
        self.id = template_id
        self.conversations = conversations
        self.of_messages = of_messages
        self._messages: list[tuple[str, Template | None]] | None = None
        if text is None:
            spec = load_spec(CANDIDATE_PROMPT)
            settings = spec.settings
            self.text = spec.text(settings["with_context"])
            self.sha256 = spec.sha256
            self._with_context = Template(spec.text(settings["with_context"]))
            self._without_context = Template(spec.text(settings["without_context"]))
            return
        self.text = text
        self.sha256 = hashlib.sha256(text.encode("utf-8")).hexdigest()
        if of_messages:
            self._messages = _template_messages(text)
        else:
            self._with_context = self._without_context = Template(text)

    def render(self, item: Item) -> str | list[Message]:
        """The prompt, or the messages."""
        conversation: list[Message] | None = item.messages if self.conversations else None
        if self._messages is None:
            if conversation is not None:
                return conversation
            template = self._without_context if item.context is None else self._with_context
            return template.render(_values(item))
        whole: list[Message] = []
        for role, template_of_role in self._messages:
            if template_of_role is not None:
                whole.append({"role": role, "content": template_of_role.render(_values(item))})
            else:
                whole += conversation or [{"role": "user", "content": item.prompt}]
        return whole

    def parts(self) -> dict[bool, list[TextPart[Item]]]:
        """The parts of the prompt, by whether the item has a context; nothing for a template of messages."""
        if self._messages is not None:
            return {}
        return {True: _parts(self._with_context), False: _parts(self._without_context)}


_PARTS: Mapping[str, TextPart[Item]] = {
    "prompt": attrgetter("prompt"),
    "id": attrgetter("id"),
    "category": lambda item: item.category or "",
    "context": lambda item: "" if item.context is None else as_text(item.context),
}


def _parts(template: Template) -> list[TextPart[Item]]:
    parts: list[TextPart[Item]] = [template.literals[0]]
    for name, literal in zip(template.names, template.literals[1:], strict=True):
        parts += [_PARTS.get(name, ""), literal]
    return parts


def _values(item: Item) -> dict[str, Any]:
    values = {"prompt": item.prompt, "id": item.id, "category": item.category or ""}
    return values if item.context is None else values | {"context": item.context}


def _template_messages(text: str) -> list[tuple[str, Template | None]]:
    """The roles and texts of a template of messages, which `read_template` has checked; None stands for the item."""
    return [
        (one["role"], None if one["role"] == ITEM else Template(one["content"]))
        for one in toml_values(text)["messages"]
    ]


# ── from a file ──────────────────────────────────────────────────────────────────────────────────────────────


def chosen_template(config: RunConfig, evalset: EvalSet | None) -> PromptTemplate:
    """The template that the settings name, for items that may have messages of their own; with no eval set it is only
    looked at. Raises: ConfigError."""
    has_messages = evalset is not None and evalset.has_messages
    if config.prompt_template is None:
        return PromptTemplate(CANDIDATE_PROMPT, None, conversations=has_messages)
    path = Path(config.prompt_template)
    text = read_template(path, conversations=has_messages)
    return PromptTemplate(path.name, text, conversations=has_messages, of_messages=path.suffix == ".toml")


def read_template(path: Path, *, conversations: bool = False) -> str:
    """The user's own prompt template, checked. `conversations`: items of the eval set have messages of their own.

    Raises: ConfigError.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError("prompt_template", f"{path} ({error.strerror})", "a text file with {{prompt}}") from None
    except UnicodeDecodeError as error:
        raise ConfigError("prompt_template", f"{path}: no UTF-8 at byte {error.start}", "UTF-8") from None
    if path.suffix == ".toml":
        _check_template_messages(text, path)
    elif conversations:
        expected = "a .toml file whose [[messages]] have one of role item, which the item's messages take the place of"
        raise ConfigError("prompt_template", f"{path}, a text, and items with messages", expected)
    elif "{{prompt}}" not in text:
        raise ConfigError(
            "prompt_template", f"{path}, which has no {{{{prompt}}}}", "the item's prompt somewhere in it"
        )
    _check_placeholders(text, path)
    return text


def _check_placeholders(text: str, path: Path) -> None:
    names = " or ".join([", ".join(f"{{{{{name}}}}}" for name in PROMPT_NAMES[:-1]), f"{{{{{PROMPT_NAMES[-1]}}}}}"])
    for found in _NAMED.finditer(text):
        if found[1] not in PROMPT_NAMES:  # also one with spaces in it, or in capitals, which would be sent as it is
            line = text.count("\n", 0, found.start()) + 1
            raise ConfigError("prompt_template", f"{quoted(found[0])} on line {line} of {path}", names)


def _check_template_messages(text: str, path: Path) -> None:
    """A template of messages: roles and texts in their order, and the item once, by `role = "item"` or {{prompt}}.

    Raises: ConfigError.
    """

    def wrong(found: str, expected: str) -> ConfigError:
        return ConfigError("prompt_template", f"{path}: {found}", expected)

    try:
        content = toml_values(text)
    except NoTomlError as error:
        raise wrong(error.found, "[[messages]] with role and content") from None
    messages = content.get("messages")
    if not isinstance(messages, list) or not messages or content.keys() != {"messages"}:
        raise wrong(", ".join(content) or "nothing", "[[messages]] with role and content, and nothing else")
    n_items = 0
    for number, one in enumerate(messages):
        place = f"messages[{number}]"
        role = one.get("role") if isinstance(one, dict) else None
        if role not in (*_TEMPLATE_ROLES, ITEM):
            raise wrong(f"{place}.role {role!r}", ", ".join((*_TEMPLATE_ROLES, ITEM)))
        fields = {"role"} if role == ITEM else {"role", "content"}
        if one.keys() != fields or not isinstance(one.get("content", ""), str):
            expected = "role alone" if role == ITEM else "role, and content, a text"
            raise wrong(f"{place} with {', '.join(one)}", expected)
        n_items += role == ITEM or "{{prompt}}" in one["content"]
    if not n_items:
        raise wrong("no message of role item, and no {{prompt}}", "the item somewhere in it")
    if messages[-1]["role"] not in ("user", ITEM):
        raise wrong(f"the last message is the {messages[-1]['role']}'s", "the user's, or the item's")


DEFAULT_GENERATION = {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}  # R2.3
FOUR_PARAMS = ("temperature", "top_p", "max_tokens", "seed")  # that R7.1 asks for by name


class CandidatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run in which one model is asked, and nobody else: all of an `answer_correctness@v1` plan.

    Samples are numbered `repeat * n_items + item`; that is the order in which they are asked.
    """

    spec: str
    spec_sha256: str
    evalset_sha256: str
    n_items: int
    repeats: int
    prompt_template_id: str  # empty, with its hash, where the outputs were made elsewhere
    prompt_template_sha256: str
    candidate: RolePlan
    benchmark: bool = False
    part: SetPart | msgspec.UnsetType = msgspec.UNSET  # left out, and of no weight in the hash, where all were asked
    # Left out where no item has messages of its own, and where the template is a text.
    conversations: bool | msgspec.UnsetType = msgspec.UNSET
    template_form: Literal["messages"] | msgspec.UnsetType = msgspec.UNSET

    @property
    def set_sha256(self) -> str:
        """The hash of what was asked: of the eval set's file, or of the part of it."""
        return self.part.sha256(self.evalset_sha256) if isinstance(self.part, SetPart) else self.evalset_sha256

    @property
    def part_said(self) -> PartSaid | msgspec.UnsetType:
        """The part in words, as manifests have it."""
        return self.part.said if isinstance(self.part, SetPart) else msgspec.UNSET

    @property
    def n_samples(self) -> int:
        return self.n_items * self.repeats


def candidate_plan_of(started: RunStarted) -> CandidatePlan:
    """The plan in a record's first fact, as far as the candidate goes."""
    return msgspec.convert(started.identity["plan"], ready(CandidatePlan))


def _own_template(record: Record, started: RunStarted) -> str | None:
    """The text of a user's own template, with the line ends that the record keeps; None where there is none."""
    sha256 = started.inputs.get("prompt_template")
    if sha256 is None:
        return None
    encoding = "utf-8-sig" if derivation_of(started) >= 3 else "utf-8"  # a byte-order mark was once sent with the rest
    return record.read_input(sha256).decode(encoding)


def template_of(record: Record, started: RunStarted) -> PromptTemplate:
    """The candidate's prompt template: the user's own, kept among the inputs, or the frozen one."""
    text = _own_template(record, started)
    if text is not None:  # as `open` reads it
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    plan = candidate_plan_of(started)
    return PromptTemplate(
        plan.prompt_template_id,
        text,
        conversations=plan.conversations is True,
        of_messages=plan.template_form == "messages",
    )


def candidate_template(record: Record, started: RunStarted) -> dict[str, str]:
    """The text of the candidate's template under its name in `Evaluator.templates`; nothing where nobody was asked."""
    if not candidate_plan_of(started).prompt_template_id:
        return {}
    return {"prompt_template": template_of(record, started).text}


def template_fault(record: Record, started: RunStarted) -> str | None:
    """The words for a user's own template whose hash is not the one in the plan; None where it is, or there is none."""
    text = _own_template(record, started)
    if text is None:
        return None
    planned = candidate_plan_of(started).prompt_template_sha256
    found = [hashlib.sha256(one.encode("utf-8")).hexdigest() for one in (text, text.replace("\r\n", "\n"))]
    return None if planned in found else f"the plan is of another template than the record keeps: {planned}"


class CandidateRequests:
    """The bytes of each request that a plan leads to, where only the candidate is asked."""

    def __init__(self, plan: CandidatePlan, template: PromptTemplate) -> None:
        self._candidate = plan.candidate
        self._template = template

        self._pieces = {
            has_context: RequestPieces(self._body, [parts])
            for has_context, parts in template.parts().items()
        }  # fmt: skip

    def candidate(self, item: Item) -> bytes:
        return body_of(self._candidate, self._template.render(item))

    def candidate_sha256(self, item: Item) -> str:
        """The hash of the same."""
        if (pieces := self._pieces_for(item)) is not None:
            with suppress(UnicodeEncodeError):
                return pieces.sha256(item)
        return request_sha256(self.candidate(item))

    def candidate_sha256s(self, items: Sequence[Item]) -> list[str]:
        """The hashes of the same for several items."""
        kinds = set(map(self._pieces_for, items))
        if len(kinds) == 1 and (pieces := kinds.pop()) is not None:
            with suppress(UnicodeEncodeError):
                return pieces.sha256s(items)
        return [self.candidate_sha256(item) for item in items]

    def _pieces_for(self, item: Item) -> RequestPieces[Item] | None:
        """The pieces of an item's request; None where it is rendered as a whole."""
        if self._template.conversations and item.messages is not None:
            return None
        return self._pieces.get(item.context is not None)

    def _body(self, texts: Sequence[str]) -> bytes:
        (text,) = texts
        return body_of(self._candidate, text)


# ── from the settings ────────────────────────────────────────────────────────────────────────────────────────


def nothing_given(setting: str) -> ConfigError:
    """The error for a setting that a run must have."""
    return ConfigError(setting, "nothing", "a value (see `benchbook init`)")


def named_evalset(config: RunConfig) -> Path:
    """The path of the eval set. Raises: ConfigError where none is named, UsageError for one that is not shipped."""
    if not config.evalset:
        raise nothing_given("evalset")
    return evalset_path(config.evalset)


def chosen_part(config: RunConfig, evalset: EvalSet) -> tuple[EvalSet, SetPart | msgspec.UnsetType]:
    """The items that the settings leave, and which they are, where it is not the whole set.

    Raises: ConfigError, InputError.
    """
    if config.benchmark and config.part:
        name = next(name for name in PartAsked._fields if getattr(config, name))
        raise ConfigError(name, str(getattr(config, name)), "nothing in a benchmark, which asks the whole set")
    chosen, part = choose_part(evalset, config.part)
    return chosen, part or msgspec.UNSET


def inputs_of_config(config: RunConfig) -> dict[str, SeenFile]:
    """The files that a config names beside the eval set, as they are before they are read."""
    named = {"prompt_template": config.prompt_template, "outputs": config.outputs}
    return {name: seen(path) for name, path in (*config.part.inputs.items(), *named.items()) if path is not None}


def model_settings(config: RunConfig) -> RoleSettings:
    """How the model is reached and asked."""
    model = ModelConfig(
        model=config.model,
        base_url=config.model_base_url,
        api_key_env=config.model_api_key_env,
        path=config.model_path,
        params=config.model_params,
        reasoning_tags=config.model_reasoning_tags,
        json_schema=False,
        input_price=config.model_input_price,
        output_price=config.model_output_price,
    )
    return RoleSettings(
        setting="model", prefix="model_", config=model, timeout_ms=config.timeout_ms, stream=config.stream
    )


def named_models(*roles: RoleSettings) -> list[RoleSettings]:
    """Those of which a model is named."""
    return [role for role in roles if role.config.model]


def four_params(role: RolePlan) -> dict[str, Any]:
    """The parameters that R7.1 asks for by name; null where one was left out on purpose."""
    return {name: role.params.get(name) for name in FOUR_PARAMS}
