"""How the candidate is asked, whatever is made of its answers: plan, requests, settings."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from benchbook.ask.requests import RolePlan, body_of
from benchbook.ask.roles import RoleSettings
from benchbook.ask.settings import ModelConfig
from benchbook.canonical import ready
from benchbook.errors import ConfigError
from benchbook.evalsets import EvalSet, Item
from benchbook.evalsets.set_parts import PartAsked, PartSaid, SetPart, choose_part
from benchbook.evaluators.derivation import derivation_of
from benchbook.evaluators.prompt_templates import PromptTemplate
from benchbook.evaluators.settings import RunConfig
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record

__all__ = [
    "DEFAULT_GENERATION",
    "FOUR_PARAMS",
    "CandidatePlan",
    "CandidateRequests",
    "candidate_plan_of",
    "chosen_part",
    "four_params",
    "model_settings",
    "template_of",
]

DEFAULT_GENERATION = {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}  # R2.3
FOUR_PARAMS = ("temperature", "top_p", "max_tokens", "seed")  # that R7.1 asks for by name


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


def template_of(record: Record, started: RunStarted) -> PromptTemplate:
    """The candidate's prompt template: the user's own, kept among the inputs, or the frozen one."""
    sha256 = started.inputs.get("prompt_template")
    encoding = "utf-8-sig" if derivation_of(started) >= 3 else "utf-8"  # a byte-order mark was once sent with the rest
    text = None if sha256 is None else record.input(sha256).read_text(encoding=encoding)
    plan = candidate_plan_of(started)
    return PromptTemplate(
        plan.prompt_template_id,
        text,
        conversations=plan.conversations is True,
        of_messages=plan.template_form == "messages",
    )


class CandidateRequests:
    """The bytes of each request that a plan leads to, where only the candidate is asked."""

    def __init__(self, plan: CandidatePlan, template: PromptTemplate) -> None:
        self._candidate = plan.candidate
        self._template = template

    def candidate(self, item: Item) -> bytes:
        return body_of(self._candidate, self._template.render(item))


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


def four_params(role: RolePlan) -> dict[str, Any]:
    """The parameters that R7.1 asks for by name; null where one was left out on purpose."""
    return {name: role.params.get(name) for name in FOUR_PARAMS}
