"""Made-up runs for the tests of reports, and for looking at them.

`PYTHONPATH=tests .venv/bin/python -m views.made_up FOLDER [KIND]` writes the reports of one into a folder.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import msgspec

from benchbook.evalsets import Item
from benchbook.evaluators.exact import RepeatSummary, as_float, sample_sd
from benchbook.evaluators.gates import Cap
from benchbook.evaluators.intervals import Interval
from benchbook.evaluators.rubric.aggregates import RubricAggregates, aggregates_of
from benchbook.evaluators.rubric.release import decide, decide_by_bounds
from benchbook.evaluators.rubric.row import scores_of
from benchbook.evaluators.rubric.rows import (
    ItemAgreement,
    JudgeReply,
    Ledger,
    RubricManifest,
    RubricRow,
    Slice,
)
from benchbook.evaluators.rubric.scoring import NO_ANSWER, SampleOutcome, score_sample
from benchbook.evaluators.rubric.tally import tally
from benchbook.views.csv_files import csv_report
from benchbook.views.html import html_page
from benchbook.views.markdown import markdown_page
from benchbook.views.rubric.digest import RunReport
from benchbook.views.rubric.report import run_document, write_reports
from rubric_v1 import AGGREGATES_FILE, ROW, SLICE, V1, outcome_v1

SCALE = V1
NORMS = [*(one.norm for one in V1.criteria), *(one.norm for one in V1.measures)]
ITEM = Item(id="i", prompt="When is a refund paid?", context="Within seven days.", expected_answer="Within seven days.")
HASH = "9f2c41d6a07be385c1d94e60b7a2f8135dce07946b1a8f52e3c0d7968ab4f517"

HOSTILE = {
    "script": "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>",
    "closing tags": "</pre></details></main></body></html><style>*{display:none}</style><!--",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "markdown link": "[click](javascript:alert(1)) ![](https://evil.example/pixel.png) <https://evil.example>",
    "autolink": "https://evil.example/a www.evil.example user@evil.example",
    "backticks": "``` ````` `a` ~~~~\n```\n# not a heading\n`````html\n<script>alert(1)</script>",
    "table": "a | b \\| c \\\\| d || e\n| --- | --- |",
    "ansi": "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x9b2J",
    "bidi": "abc \u202e gnp.exe \u2066 x \u2069 \u200f",
    "controls": "nul\x00 bell\x07 backspace\x08 cr\r\nnext \x0b\x0c\x7f \ufffe\uffff",
    "surrogate": "lone \ud835 and \udfff",
    "xml": "]]> <![CDATA[ &amp; &#0; <?xml version='1.0'?>",
    "formula": '=HYPERLINK("https://evil.example","x")',
    "long line": "x" * 1_000_000,
    "empty": "",
    "entity": "&lt;b&gt; &nbsp; &#x202e;",
    "front matter": "---\ntitle: x\n---\n\n***\n\n* * *\n> quote\n1. one\n- [ ] todo",
}


def row(sample: int, outcome: SampleOutcome, **given: Any) -> RubricRow:
    """A row that is scored by the real scorer; `given` fills in texts and names."""
    score = score_sample(outcome, SCALE)
    values: dict[str, Any] = {
        "sample": sample,
        "repeat": 0,
        "item_id": f"item-{sample:02}",
        "section": None,
        "category": None,
        "difficulty": None,
        "group": None,
        "candidate_answer": None if outcome.no_answer else "Seven working days.",
        "rationale": "The answer agrees with the reference." if outcome.scores[0] is not None else None,
        "parse_error_reason": "malformed_json" if outcome.evaluator_error == "parse_error" else None,
        "error_detail": None,
        "time_to_first_token_ms": None,
        "queue_ms": 3,
        "retry_ms": 0,
        "finish_reason": "stop",
        "truncated": False,
        "model_reported": "small-instruct-2026-05-14",
        "model_fingerprint": None,
        "cached": False,
        "transport_retries": 0,
        "parse_retries": 0,
        "judge_replies": [],
        "reasoning": None,
        "evaluator_latency_ms": 812,
        "evaluator_input_tokens": 512,
        "evaluator_output_tokens": 48,
        "evaluator_reported": "judge-2026-04-01",
        "evaluator_fingerprint": None,
        "answer_seq": 2 * sample + 1,
        "answer_sha256": HASH,
    }
    scored: dict[str, Any] = {
        **dict(zip((one.score_key for one in V1.criteria), outcome.scores, strict=True)),
        "score_origin": outcome.score_origin,
        "evaluator_error": outcome.evaluator_error,
        "sample_score": as_float(score.sample_score_nano),
        "passed": score.passed,
        "fail_reasons": list(score.fail_reasons),
        **dict(zip(NORMS, map(as_float, score.norms_nano), strict=True)),
        "latency_e2e_ms": outcome.latency_e2e_ms,
        "latency_model_ms": outcome.latency_model_ms,
        "timed_out": outcome.timed_out,
        "input_tokens": outcome.input_tokens,
        "output_tokens": outcome.output_tokens,
        "total_tokens": outcome.total_tokens,
        "token_efficiency_ratio": as_float(score.token_efficiency_ratio_nano),
    }
    return ROW(**{**values, **scored, **given})


def outcome_of(one: RubricRow) -> SampleOutcome:
    rest = {name: getattr(one, name, False) for name in SampleOutcome.__struct_fields__ if name != "scores"}
    return SampleOutcome(scores=scores_of(one, V1), **rest)


def report(
    rows: Sequence[RubricRow],
    *,
    repeats: int = 1,
    n_planned: int | None = None,
    warnings: Sequence[str] = (),
    missing: Sequence[str] = (),
    confidence: float | None = None,
    bounds: float | None = None,
    caps: Sequence[Cap] = (),
    item: Item = ITEM,
    **manifest: Any,
) -> RunReport:
    """A report over `rows`, aggregated and decided by the real functions. Intervals are made up (normal).

    Decided by what is shown at the confidence `bounds`, or else as before derivation 3.
    """
    counted = tally(map(outcome_of, rows), SCALE)
    aggregates = aggregates_of(counted)
    ledger = Ledger(
        n_planned=len(rows) if n_planned is None else n_planned,
        n_attempted=len(rows),
        n_scored=aggregates.n_scored,
        n_unscored=aggregates.n_unscored,
        unscored_by_reason=dict(Counter(_unscored(one) for one in rows if one.evaluator_error)),
        n_no_answer=aggregates.n_no_answer,
        no_answer_by_reason=dict(Counter("timeout" if one.timed_out else "empty" for one in rows if one.score_origin)),
    )
    intervals = _intervals(aggregates)
    file = AGGREGATES_FILE(
        spec="rubric@v1",
        ledger=ledger,
        aggregates=aggregates,
        intervals=intervals,
        fail_reasons=dict(counted.fail_reasons),
        accuracy_counts={str(score): counted.counts[0][score] for score in (0, 1, 2)},
        faithfulness_counts={str(score): counted.counts[1][score] for score in (0, 1, 2)},
        repeats=_repeats(rows, repeats),
        item_agreement=_agreement(rows) if repeats > 1 else None,
        slices=_slices(rows),
        evaluator_input_tokens=sum(one.evaluator_input_tokens or 0 for one in rows),
        evaluator_output_tokens=sum(one.evaluator_output_tokens or 0 for one in rows),
        evaluator_latency_p50_ms=812.0 if rows else None,
        candidate_cost_usd="0.042118",
        evaluator_cost_usd=None,
        transport_retries=sum(one.transport_retries for one in rows),
        parse_retries=sum(one.parse_retries for one in rows),
        cached=0,
        warnings=list(warnings),
    )
    if bounds is None:
        decision = decide(counted, intervals=intervals, confidence=confidence, caps=caps)
    else:
        decision = decide_by_bounds(counted, intervals=intervals, confidence=bounds, caps=caps)
    made = _manifest(len(rows) // max(repeats, 1), repeats, list(missing), manifest)
    return RunReport(
        made,
        file,
        None if missing else decision,
        lambda: iter(rows),
        lambda samples: ((n, item) for n in samples),
        csv=lambda rows: csv_report(map(msgspec.structs.asdict, rows), ROW.__struct_fields__),
    )


def _unscored(one: RubricRow) -> str:
    return f"{one.evaluator_error}:{one.parse_error_reason}" if one.parse_error_reason else str(one.evaluator_error)


def _intervals(aggregates: RubricAggregates) -> dict[str, Interval]:
    n, z = aggregates.n_samples, NormalDist().inv_cdf(0.975)
    found = {}
    for name in ("aggregate_score", "pass_rate", "faithfulness_failure_rate", "latency_e2e_p95_ms"):
        value = getattr(aggregates, name)
        if value is None or n < 2:
            found[name] = Interval(
                low=None, high=None, confidence=0.95, method="none", n=n, reason="fewer than two samples"
            )
            continue
        wide = 0.12 * value if value > 1 else z * (max(value * (1 - value), 0.01) / n) ** 0.5
        low, high = max(value - wide, 0), value + wide if value > 1 else min(value + wide, 1)
        found[name] = Interval(low=round(low, 9), high=round(high, 9), confidence=0.95, method="made up, normal", n=n)
    return found


def _repeats(rows: Sequence[RubricRow], repeats: int) -> list[RepeatSummary]:
    found = []
    for name in ("aggregate_score", "latency_e2e_p95_ms"):
        per = [
            getattr(aggregates_of(tally([outcome_of(one) for one in rows if one.repeat == index], SCALE)), name)
            for index in range(repeats)
        ]
        nano = [round(value * 1e9) for value in per if value is not None]
        mean = sum(nano) / len(nano) / 1e9 if nano else None
        found.append(RepeatSummary(aggregate=name, per_repeat=per, mean=mean, sd=as_float(sample_sd(nano))))
    return found


def _agreement(rows: Sequence[RubricRow]) -> ItemAgreement:
    items: dict[str, list[RubricRow]] = {}
    for one in rows:
        items.setdefault(one.item_id, []).append(one)
    return ItemAgreement(
        n_items=len(items),
        same_answer=sum(len({one.candidate_answer for one in group}) == 1 for group in items.values()),
        same_scores=sum(len({_scores(one) for one in group}) == 1 for group in items.values()),
        same_passed=sum(len({one.passed for one in group}) == 1 for group in items.values()),
    )


def _scores(one: RubricRow) -> tuple[int | None, int | None]:
    return one.accuracy_score, one.faithfulness_score


def _slices(rows: Sequence[RubricRow]) -> list[Slice]:
    found = []
    for field in ("section", "category", "difficulty"):
        for value in sorted({getattr(one, field) for one in rows} - {None}):
            some = [outcome_of(one) for one in rows if getattr(one, field) == value]
            part = aggregates_of(tally(some, SCALE))
            names = ("n_samples", "n_scored", "pass_rate", "accuracy_mean", "faithfulness_mean", "aggregate_score")
            found.append(SLICE(field=field, value=value, **{name: getattr(part, name) for name in names}))
    return found


def _manifest(n_items: int, repeats: int, missing: list[str], given: dict[str, Any]) -> RubricManifest:
    params = {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}
    values: dict[str, Any] = {
        "run_id": "support-2026-08-01-a",
        "timestamp_utc": "2026-08-01T09:14:07Z",
        "ended_utc": "2026-08-01T09:17:52Z",
        "state": "complete",
        "state_detail": None,
        "spec": "rubric@v1",
        "spec_sha256": HASH[::-1],
        "dataset_id": "support-assistant-v3",
        "dataset_version_or_hash": f"sha256:{HASH[7:]}{HASH[:7]}",
        "n_items": n_items,
        "repeats": repeats,
        "benchmark": True,
        "model_id": "acme/small-instruct@2026-05-14",
        "model_version": None if "model_version" in missing else "small-instruct-2026-05-14",
        "evaluator_model_id": "acme/judge-large@2026-04-01",
        "evaluator_model_version": "judge-large-2026-04-01",
        "prompt_template_id": "candidate_prompt@v1",
        "prompt_template_version_or_hash": f"sha256:{HASH[3:]}{HASH[:3]}",
        "evaluator_prompt_template_id": "rubric@v1",
        "evaluator_prompt_template_version_or_hash": f"sha256:{HASH[9:]}{HASH[:9]}",
        "generation_params": params,
        "generation_params_effective": {**params, "seed": None},
        "evaluator_generation_params": params,
        "evaluator_generation_params_effective": params,
        "code_version": {"benchbook": "0.1.0", "git_sha": HASH[:40], "dirty": False, "of": "benchbook"},
        "environment": {
            "python": "3.11.7",
            "platform": "Linux x86_64",
            "cpus": 2,
            "region": None,
            "packages": {"aiohttp": "3.12.15", "msgspec": "0.22.0", "numpy": "2.3.2", "polars": "1.32.0"},
        },
        "unmeasured": [],
        "reasoning_tags": [],
        "config": {"evalset": "support.jsonl", "model": "acme/small-instruct@2026-05-14", "max_connections": 8},
        "plan_sha256": HASH,
        "inputs": {"evalset": HASH},
        "journal_segments": 1,
        "journal_facts": 4 * n_items * repeats + 2,
        "journal_sha256": HASH,
        "derived": {"samples.parquet": HASH, "aggregates.json": HASH, "decision.json": HASH},
        "derived_by": {"tables": "pyarrow 20.0.0"},
        "manifest_sha256": "f" * 64,
        "missing_metadata": missing,
    }
    return msgspec.convert({**values, **given}, RubricManifest)


def good(sample: int = 0, **given: Any) -> RubricRow:
    outcome = outcome_v1(
        accuracy_score=2,
        faithfulness_score=2,
        latency_e2e_ms=900,
        latency_model_ms=850,
        input_tokens=410,
        output_tokens=60,
    )
    reply = JudgeReply(
        attempt=1, text='{"accuracy_score": 2, "faithfulness_score": 2, "rationale": "Right."}', seq=2 * sample + 2
    )
    return row(sample, outcome, **{"judge_replies": [reply], **given})


def unscored(sample: int = 0, **given: Any) -> RubricRow:
    outcome = outcome_v1(evaluator_error="parse_error", latency_e2e_ms=1100, input_tokens=400, output_tokens=50)
    replies = [
        JudgeReply(
            attempt=1, text="Sure! The answer is good.", parse_error_reason="malformed_json", detail="at byte 0", seq=7
        ),
        JudgeReply(attempt=2, text="```json\n{}\n```", parse_error_reason="malformed_json", detail="at byte 0", seq=8),
    ]
    return row(sample, outcome, **{"judge_replies": replies, "parse_retries": 1, **given})


def silent(sample: int = 0, **given: Any) -> RubricRow:
    outcome = outcome_v1(accuracy_score=0, score_origin=NO_ANSWER, latency_e2e_ms=30_000, timed_out=True)
    return row(sample, outcome, **{"error_detail": "no answer within 30 s", "rationale": None, **given})


def hostile_rows() -> list[RubricRow]:
    """Every hostile text in every place that a text of others can have; failed rows and passed ones."""
    rows = []
    for index, words in enumerate(HOSTILE.values()):
        for failed in (True, False):
            sample = len(rows)
            reply = JudgeReply(
                attempt=1,
                text=words,
                parse_error_reason="malformed_json" if failed else None,
                detail=words[:200],
                seq=sample,
            )
            texts: dict[str, Any] = {
                "candidate_answer": words,
                "rationale": words,
                "reasoning": words,
                "error_detail": words,
                "judge_replies": [reply],
                "item_id": f"{index} {words[:300]}",
                "category": words[:100] or None,
                "group": words[:100] or None,
                "finish_reason": words[:100] or None,
                "model_reported": words[:100] or None,
            }
            rows.append(unscored(sample, **texts) if failed else good(sample, **texts))
    return rows


def hostile_report() -> RunReport:
    nasty = " ".join(text[:120] for text in HOSTILE.values())
    return report(
        hostile_rows(),
        warnings=[nasty],
        caps=[Cap("snapshot_changed", nasty)],
        dataset_id=nasty,
        model_id=nasty,
        model_version=nasty,
        state_detail=nasty,
        state="interrupted",
        environment={nasty: nasty, "list": [nasty]},
        config={nasty: [nasty]},
    )


# --- a run that looks like a real one ------------------------------------------------------------------------

_ITEMS = (
    ("refund-window", "answerable", "easy", "Refunds are possible within 30 days of delivery, if the item is unused."),
    ("warranty-transfer", "unanswerable", "hard", "The documents do not say whether a warranty can be passed on."),
    ("shipping-cost-sum", "numeric", "medium", "Standard 4.90 € plus the island surcharge of 7.50 € makes 12.40 €."),
    ("account-deletion", "multi-part", "medium",
     "1. Open Settings › Privacy.\n2. Choose “Delete account”.\n\nThe data is erased after 14 days."),
    ("battery-return", "answerable", "easy", "Old batteries can be returned in any branch, free of charge."),
    ("arabic-hours", "answerable", "medium", "ساعات العمل من 9 صباحًا حتى 6 مساءً (UTC+3), من الأحد إلى الخميس."),
    ("price-after-discount", "numeric", "hard", "129.00 € less 15 % is 109.65 €."),
    ("japanese-invoice", "answerable", "medium", "請求書は「マイページ」→「注文履歴」からPDFでダウンロードできます。"),
)  # fmt: skip
_RATIONALES = {
    2: "Agrees with the reference in every point, and says nothing that the context does not say.",
    1: "Right in substance, but leaves out the condition that the item must be unused.",
    0: "States that the warranty can be transferred once; neither reference nor context says so.",
}


def realistic(n_items: int = 40, repeats: int = 3, seed: int = 7) -> list[RubricRow]:
    rng, rows = random.Random(seed), []
    for sample in range(n_items * repeats):
        index = sample % n_items
        name, category, difficulty, answer = _ITEMS[index % len(_ITEMS)]
        latency = round(min(rng.lognormvariate(7.6, 0.55), 14_000))
        given: dict[str, Any] = {
            "item_id": f"{name}-{index // len(_ITEMS) + 1}",
            "repeat": sample // n_items,
            "category": category,
            "difficulty": difficulty,
            "candidate_answer": answer,
        }
        counts = {"input_tokens": rng.randint(300, 2200), "output_tokens": rng.randint(20, 420)}
        chance = rng.random()
        if chance < 0.015:
            rows.append(silent(sample, **given | {"candidate_answer": None}))
            continue
        if chance < 0.05:
            rows.append(unscored(sample, **given))
            continue
        hard = {"easy": 0.05, "medium": 0.12, "hard": 0.34}[difficulty]
        accuracy = 0 if rng.random() < hard * 0.7 else 1 if rng.random() < hard * 2 else 2
        faithfulness = 0 if accuracy == 0 and rng.random() < 0.6 else 1 if rng.random() < 0.1 else 2
        text = (
            f'{{"accuracy_score": {accuracy}, "faithfulness_score": {faithfulness}, '
            f'"rationale": "{_RATIONALES[accuracy]}"}}'
        )
        replies = [JudgeReply(attempt=1, text=text, seq=2 * sample + 2)]
        if rng.random() < 0.04:
            early = JudgeReply(
                attempt=1,
                text=f"Here is my evaluation:\n```json\n{text}\n```",
                parse_error_reason="malformed_json",
                detail="expected value at line 1 column 1",
                seq=2 * sample + 1,
            )
            replies = [early, JudgeReply(attempt=2, text=text, seq=2 * sample + 2)]
        outcome = outcome_v1(
            accuracy_score=accuracy,
            faithfulness_score=faithfulness,
            latency_e2e_ms=latency,
            latency_model_ms=latency - 40,
            **counts,
        )
        rows.append(
            row(
                sample,
                outcome,
                rationale=_RATIONALES[accuracy],
                judge_replies=replies,
                parse_retries=len(replies) - 1,
                **given,
            )
        )
    return rows


def html_report(made: RunReport) -> Iterator[str]:
    return html_page(run_document(made, in_full=True))


def markdown_report(made: RunReport) -> Iterator[str]:
    return markdown_page(run_document(made, in_full=True))


def shown(kind: str) -> RunReport:
    match kind:
        case "ready":
            return report([good(n, latency_e2e_ms=700 + 37 * n, section="core", difficulty="easy") for n in range(60)])
        case "same":
            rows = [good(n, passed=True) for n in range(48)]
            return report(
                rows,
                repeats=3,
                warnings=[
                    "The judge gave all 48 answers the same scores (accuracy 2, faithfulness 2).",
                    "The judge is the model itself: models tend to favour their own answers.",
                ],
                caps=(Cap("snapshot_changed", "the judge's snapshot or fingerprint changed during the run"),),
            )
        case "missing":
            return report(realistic(10, 1), missing=["model_version", "code_version"])
        case "empty":
            return report([], n_planned=40, state="interrupted", state_detail="Ctrl-C", ended_utc=None)
        case "hostile":
            return hostile_report()
        case "nothing":
            return report(
                [unscored(n) for n in range(12)],
                warnings=["Nothing was scored: no number here says anything about the model."],
            )
        case _:
            rows = realistic()
            n = sum(one.evaluator_error is not None for one in rows)
            warning = f"{n} of {len(rows)} samples have no score (parse_error:malformed_json {n})."
            return report(rows, repeats=3, warnings=[warning])


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_reports(shown(sys.argv[2] if len(sys.argv) > 2 else "realistic"), folder)
