"""An audit of a judge, begun and gone on with: each variant is a run of its own, and all that runs can holds for it.

The judge's settings are those of the run whose answers it scores again, unless others are given. Where the judge is
that run's own, its record is copied as the original: nothing that was paid for is asked for twice, and a judge that has
changed since shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchbook.ask.forecast import Forecast
from benchbook.ask.identity import new_run_id
from benchbook.ask.limits import Stop
from benchbook.ask.model_id import parse_model_id
from benchbook.ask.starting import prepared_to_ask
from benchbook.ask.work import ProgressHandler
from benchbook.errors import ConfigError, UsageError
from benchbook.evaluators.registry import evaluator_of, settings_asked_for
from benchbook.evaluators.settings import LIMITS
from benchbook.exchange.audited_answers import audited_answers
from benchbook.exchange.records_sitting import OnPart, RecordsSitting, unheard
from benchbook.judge_audit.card import AuditCard, audit_card, card_bytes, effects_of
from benchbook.judge_audit.effects import undecided
from benchbook.judge_audit.folder import (
    PLANNED,
    RULES,
    SOURCE,
    AuditFolder,
    AuditPlan,
    checked_variants,
)
from benchbook.judge_audit.planning import SD, SD_OF_PAIRS, effect_found
from benchbook.judge_audit.stages import ends_of_stages
from benchbook.judge_audit.variants import ORIGINAL, VARIANTS, Names
from benchbook.labels.pairs.asked import judges_pairs
from benchbook.record.folder import RUN_ID, Record
from benchbook.writing import copy_folder, write_file

DEFAULT_N = 200  # answers: they find an effect of 0.07 with a chance of 90 %
DEFAULT_MARGIN = 0.05  # of the judge's score from 0 to 1
OTHER_NAME = "another-model"
COMMAND = "judge audit"

_OF_ITS_OWN = ("max_cost_usd", "max_seconds", "accept_unanswered")  # limits that a run sets on itself alone
_OF_THE_RUN = ("spec", "panel_rule", "judges", "unmeasured", "model_input_price", "model_output_price")
_JUDGES = ("spec", "spec_sha256", "judge", "panel", "unmeasured")  # of a plan: all that tells its judge from another


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditAsked:
    """An audit as it is asked for. `n` None: all answers; `variants` empty: all of them."""

    n: int | None = DEFAULT_N
    seed: int = 0
    variants: tuple[str, ...] = ()
    margin: float = DEFAULT_MARGIN
    confidence: float = 0.95
    until_decided: bool = False
    own_name: str | None = None
    other_name: str | None = None
    audits: str = "audits"
    audit_id: str | None = None


class AuditForecast(msgspec.Struct, frozen=True, kw_only=True):
    """An audit before it begins: the judge's calls, and the most that they can cost in dollars.

    `effect_found` is the smallest mean change of the judge's score that so many answers find with a chance of 90 %, at
    the spread that `judge_audit.planning` assumes.
    """

    judges: tuple[str, ...]
    spec: str
    n_answers: int
    n_eligible: int
    variants: tuple[str, ...]
    not_tried: tuple[str, ...]
    run_judged: bool
    calls: int
    most_cost_usd: str | None
    effect_found: float


@dataclass(frozen=True, slots=True)
class AuditResult:
    """An audit as it stands after a sitting. `card` is None where nothing can be said yet; `stop.reason` says why it
    ended early, if it did."""

    audit: AuditFolder
    card: AuditCard | None
    stop: Stop


# ── beginning ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class PreparedAudit:
    """An audit as it would be begun: answers are drawn and settings checked, but nothing was asked or written."""

    record: Record
    plan: AuditPlan
    forecast: AuditForecast
    path: Path

    def begin(self) -> AuditFolder:
        """Write the folder, with the plan and a copy of the run.

        Raises: UsageError where the folder is there already; RecordError.
        """
        with PLANNED.begun(self.path, self.plan, COMMAND) as folder:
            copy_folder(self.record.path, folder / SOURCE)
        return AuditFolder(self.path, self.plan)


def prepared_audit(record: Record, given: Mapping[str, Any], asked: AuditAsked) -> PreparedAudit:
    """Draw the answers of `record` and look at all settings; `given` are those of the judge and its limits.

    Raises: ConfigError, UsageError, SeveralFaultsError before anything is written; RecordError.
    """
    audit_id = asked.audit_id or new_run_id()
    if RUN_ID.fullmatch(audit_id) is None:
        raise ConfigError("audit_id", repr(audit_id), "letters, digits, and . _ - after the first")
    _check(asked)
    is_of_pairs = judges_pairs(evaluator_of(record))
    variants = checked_variants(asked.variants, pairs=is_of_pairs)
    settings = {**_of_the_run(record), **given}
    settings.pop("reports", None)  # an audit's records have none: its card says it all
    if settings.get("cache") is not None:
        raise ConfigError("cache", repr(settings["cache"]), "nothing: an answer that was kept tries no judge")
    with audited_answers(record, n=asked.n, seed=asked.seed) as answers:
        n = len(answers.drawn)
        one = answers.settings(ORIGINAL, Names("", ""), range(n), settings)
        assert one is not None  # noqa: S101 - no rule is applied
        evaluator, checked = settings_asked_for(one | {"reports": None}, COMMAND, "run")
        prepared = prepared_to_ask(evaluator, checked)
        forecast = prepared.forecast()
        judges = [plan.model_id for name, (_, plan) in prepared.roles.items() if name != "candidate"]
        if not judges:
            raise ConfigError("spec", evaluator.id, "an evaluator with a judge")
        names = Names(
            asked.own_name or parse_model_id(judges[0], "judge").name,
            asked.other_name or _other_than(judges[0], answers.found.model),
        )
        fitting = [name for name in variants if answers.fits(name, names)]
        run_judged = _is_judge_of(record, forecast)
        plan = AuditPlan(
            audit_id=audit_id,
            rules=RULES,
            run_id=record.started().run_id,
            run_sha256=evaluator_of(record).read(record).manifest.journal_sha256,
            run_judged=run_judged,
            n_answers=n,
            n_eligible=answers.n_eligible,
            seed=asked.seed,
            names=names,
            variants=tuple(fitting),
            not_tried=tuple(name for name in variants if name not in fitting),
            ends=ends_of_stages(n, until_decided=asked.until_decided),
            margin=asked.margin,
            confidence=asked.confidence,
            settings=settings,
        )
        told = _forecast(plan, forecast, judges, sd=SD_OF_PAIRS if is_of_pairs else SD)
    return PreparedAudit(record, plan, told, Path(asked.audits) / audit_id)


def _check(asked: AuditAsked) -> None:
    """Refuse numbers that can't be. Raises: ConfigError."""
    if asked.n is not None and asked.n < 1:
        raise ConfigError("n", str(asked.n), "1 answer, or more")
    if not 0 < asked.margin < 1:
        raise ConfigError("margin", str(asked.margin), "a change of the judge's score, between 0 and 1")
    if not 0.5 < asked.confidence < 1:
        raise ConfigError("confidence", str(asked.confidence), "a number between 0.5 and 1")


def _of_the_run(record: Record) -> dict[str, Any]:
    """The settings of a run's judge, as far as it has one, and its limits on how it asks."""
    config = record.started().config
    kept = {name: value for name, value in config.items() if name.startswith("judge") or name in _OF_THE_RUN}
    kept |= {name: config[name] for name in LIMITS if name in config and name not in _OF_ITS_OWN}
    plan: Any = evaluator_of(record).plan_of(record.started())
    # What a judged run did not declare, its samples lack again: their scores stay what they were.
    return kept | ({"unmeasured": list(plan.unmeasured)} if hasattr(plan, "unmeasured") else {})


def _other_than(judge: str, answered: str) -> str:
    """The name of the model that answered, unless it is the judge's own."""
    own, other = parse_model_id(judge, "judge").name, parse_model_id(answered, "model").name
    return OTHER_NAME if own.casefold() == other.casefold() else other


def _is_judge_of(record: Record, forecast: Forecast) -> bool:
    """True if a run was judged as it would be judged now: by the same model, parameters, rubric and prompt.

    Raises: UsageError where it was, and has not come to its end.
    """
    evaluator = evaluator_of(record)
    if evaluator.command != "run":
        return False
    plan = msgspec.to_builtins(evaluator.plan_of(record.started()))
    if any(plan.get(name) != forecast.plan.get(name) for name in _JUDGES):
        return False
    if (state := evaluator.read(record).manifest.state) != "complete":
        raise UsageError(f"{record.path}: is {state}; bring it to its end: benchbook run --resume {record.path}")
    return True


def _forecast(plan: AuditPlan, one: Forecast, judges: Sequence[str], *, sd: float) -> AuditForecast:
    rounds = len(plan.variants) + (not plan.run_judged)
    n_effects = sum(VARIANTS[name].expected == "same" for name in plan.variants)
    cost = None if one.most_cost_usd is None else f"{Decimal(one.most_cost_usd) * rounds:.2f}"
    return AuditForecast(
        judges=tuple(judges),
        spec=str(one.plan["spec"]),
        n_answers=plan.n_answers,
        n_eligible=plan.n_eligible,
        variants=plan.variants,
        not_tried=plan.not_tried,
        run_judged=plan.run_judged,
        calls=plan.n_answers * len(judges) * rounds,
        most_cost_usd=cost,
        effect_found=round(effect_found(plan.n_answers, sd=sd, n_effects=n_effects), 3),
    )


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────


async def go_on(
    audit: AuditFolder,
    changes: Mapping[str, Any] | None = None,
    on_progress: ProgressHandler | None = None,
    on_part: OnPart = unheard,
) -> AuditResult:
    """Ask whatever an audit lacks, stage by stage, and write its card. `changes` are limits and addresses alone.

    Limits on dollars and seconds are on all that is asked.
    Raises: UsageError for a change to what is tried; RecordError.
    """
    changed = changes or {}
    sitting = RecordsSitting(COMMAND, {**audit.plan.settings, **changed}, changed, audit.asked, on_progress, on_part)
    await _ask_all(audit, sitting)
    if sitting.stop.reason is not None:
        return AuditResult(audit, None, sitting.stop)
    card = audit_card(audit)
    write_file(audit.card, card_bytes(card))
    return AuditResult(audit, card, sitting.stop)


async def _ask_all(audit: AuditFolder, sitting: RecordsSitting) -> None:
    """Ask for every record that is not complete: the original, then the variants that are not decided."""
    plan, start_at = audit.plan, 0
    with audited_answers(audit.source, n=plan.n_answers, seed=plan.seed) as answers:

        async def ask(variant: str, stage: int, places: range) -> None:
            settings = partial(answers.settings, variant, plan.names, places)
            await sitting.ask(audit.part(variant, stage), settings)

        if not plan.run_judged:
            await ask(ORIGINAL, 0, range(plan.n_answers))
        for stage, end in enumerate(plan.ends):
            if sitting.stop.reason is not None:
                return
            open_ = undecided(effects_of(audit, stage)) if stage else plan.variants
            for name in plan.variants:
                if name in open_:
                    await ask(name, stage, range(start_at, end))
            start_at = end
