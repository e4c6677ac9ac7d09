"""How the candidate is asked, whatever is made of its answers: plan, prompt template, requests, settings."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.requests import RolePlan, body_of, generation_of
from benchbook.ask.roles import RoleSettings
from benchbook.canonical import ready
from benchbook.errors import ConfigError
from benchbook.evalsets import EvalSet, Item
from benchbook.evalsets.set_parts import PartAsked, PartSaid, SetPart, choose_part
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.settings import RunConfig
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs import Template, load_spec
from benchbook.text import quoted

__all__ = [
    "CANDIDATE_PROMPT",
    "DEFAULT_GENERATION",
    "FOUR_PARAMS",
    "PROMPT_NAMES",
    "CandidatePlan",
    "CandidateRequests",
    "PromptTemplate",
    "candidate_plan_of",
    "chosen_part",
    "four_params",
    "model_settings",
    "read_template",
    "template_of",
]

DEFAULT_GENERATION = {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}  # R2.3
FOUR_PARAMS = ("temperature", "top_p", "max_tokens", "seed")  # that R7.1 asks for by name
_NAMED = re.compile(r"\{\{([\w .:-]+)\}\}")


class CandidatePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What one model is asked, and nobody else: all of an `answer_correctness@v1` plan.

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


CANDIDATE_PROMPT = "candidate_prompt@v1"
PROMPT_NAMES = ("prompt", "context", "id", "category")  # what an item's `{{name}}` may be


class PromptTemplate:
    """How an item is put to the candidate: the user's own template, or the frozen `candidate_prompt@v1`.

    Its placeholders are PROMPT_NAMES.
    """

    def __init__(self, template_id: str, text: str | None) -> None:
        self.id = template_id
        if text is None:
            spec = load_spec(CANDIDATE_PROMPT)
            settings = spec.settings
            self.sha256 = spec.sha256
            self._with_context = Template(spec.text(settings["with_context"]))
            self._without_context = Template(spec.text(settings["without_context"]))
        else:
            self.sha256 = hashlib.sha256(text.encode("utf-8")).hexdigest()
            self._with_context = self._without_context = Template(text)

    def render(self, item: Item) -> str:
        template = self._without_context if item.context is None else self._with_context
        values = {"prompt": item.prompt, "id": item.id, "category": item.category or ""}
        if item.context is not None:
            values["context"] = item.context
        return template.render(values)


def template_of(record: Record, started: RunStarted) -> PromptTemplate:
    """The candidate's prompt template: the user's own, kept among the inputs, or the frozen one."""
    sha256 = started.inputs.get("prompt_template")
    encoding = "utf-8-sig" if derivation_of(started) >= 3 else "utf-8"  # a byte-order mark was once sent with the rest
    text = None if sha256 is None else record.input(sha256).read_text(encoding=encoding)
    return PromptTemplate(candidate_plan_of(started).prompt_template_id, text)


class CandidateRequests:
    """The bytes of each request that a plan leads to, where only the candidate is asked."""

    def __init__(self, plan: CandidatePlan, template: PromptTemplate) -> None:
        self._candidate = plan.candidate
        self._template = template
        self._candidate_generation = generation_of(plan.candidate, {})

    def candidate(self, item: Item) -> bytes:
        return body_of(self._candidate, self._template.render(item), self._candidate_generation)


# ── from the settings ────────────────────────────────────────────────────────────────────────────────────────


def chosen_part(config: RunConfig, evalset: EvalSet) -> tuple[EvalSet, SetPart | msgspec.UnsetType]:
    """The items that the settings leave, and which they are, where it is not the whole set.

    Raises: ConfigError, InputError.
    """
    if config.benchmark and config.part:
        name = next(name for name in PartAsked._fields if getattr(config, name))
        raise ConfigError(name, str(getattr(config, name)), "nothing in a benchmark, which asks the whole set")
    chosen, part = choose_part(evalset, config.part)
    return chosen, part or msgspec.UNSET


def read_template(path: Path) -> str:
    """The user's own prompt template. Raises: ConfigError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError("prompt_template", f"{path} ({error.strerror})", "a text file with {{prompt}}") from None
    except UnicodeDecodeError as error:
        raise ConfigError("prompt_template", f"{path}: no UTF-8 at byte {error.start}", "UTF-8") from None
    if "{{prompt}}" not in text:
        raise ConfigError(
            "prompt_template", f"{path}, which has no {{{{prompt}}}}", "the item's prompt somewhere in it"
        )
    names = " or ".join([", ".join(f"{{{{{name}}}}}" for name in PROMPT_NAMES[:-1]), f"{{{{{PROMPT_NAMES[-1]}}}}}"])
    for found in _NAMED.finditer(text):
        if found[1] not in PROMPT_NAMES:  # also one with spaces in it, or in capitals, which would be sent as it is
            line = text.count("\n", 0, found.start()) + 1
            raise ConfigError("prompt_template", f"{quoted(found[0])} on line {line} of {path}", names)
    return text


def model_settings(config: RunConfig) -> RoleSettings:
    """How the model is reached and asked."""
    return RoleSettings(
        setting="model",
        model=config.model,
        prefix="model_",
        base_url=config.model_base_url,
        api_key_env=config.model_api_key_env,
        path=config.model_path,
        params=config.model_params,
        reasoning_tags=config.model_reasoning_tags,
        json_schema=False,
        stream=config.stream,
        timeout_ms=config.timeout_ms,
        input_price=config.model_input_price,
        output_price=config.model_output_price,
    )


def four_params(role: RolePlan) -> dict[str, Any]:
    """The parameters that R7.1 asks for by name; null where one was left out on purpose."""
    return {name: role.params.get(name) for name in FOUR_PARAMS}
