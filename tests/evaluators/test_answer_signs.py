"""What answers show of how they came, told before the numbers (SPEC R1.4, R3.7)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from benchbook.ask.requests import RolePlan
from benchbook.evaluators.rubric.plan import Plan
from benchbook.evaluators.rubric.steps import read_history
from benchbook.evaluators.signs import AnswerSigns
from benchbook.record.facts import Reply
from rubric_v1 import V1


def plan(provider: str = "openai", tags: tuple[str, ...] = (), unmeasured: tuple[str, ...] = ()) -> Plan:
    def role(model: str, kind: str = "openai") -> RolePlan:
        return RolePlan(model_id=f"{kind}/{model}@1", provider=kind, name=model, params={}, reasoning_tags=tags)

    return Plan(
        spec="rubric@v1", spec_sha256="", evalset_sha256="", n_items=9, repeats=1, prompt_template_id="",
        prompt_template_sha256="", candidate=role("m", provider), judge=role("j"), unmeasured=unmeasured,
    )  # fmt: skip


def signs(plan: Plan, *replies: dict[str, Any]) -> AnswerSigns:
    found = AnswerSigns(plan.candidate, plan.unmeasured)
    for sample, values in enumerate(replies):
        known = {"text": "x", "latency_e2e_ms": 5, "input_tokens": 1, "output_tokens": 1}
        reply = Reply(sample=sample, role="candidate", **known | values)
        found.add(reply, read_history([reply], plan, V1).answer)
    return found


UNTOLD = {"input_tokens": None, "output_tokens": None}


@pytest.mark.parametrize(
    ("of", "replies", "says"),
    [
        pytest.param(plan(), [UNTOLD, UNTOLD], ["No usage came from the model's server"], id="no-usage"),
        pytest.param(plan(), [UNTOLD | {"input_tokens": 7}], ["No usage came"], id="half-of-it"),
        pytest.param(plan(), [UNTOLD, {}], [], id="usage-came-once"),
        pytest.param(plan(), [], [], id="nothing-answered"),
        pytest.param(plan("recorded"), [UNTOLD], ["tell no tokens", 'unmeasured = ["tokens"]'], id="recorded"),
        pytest.param(
            plan("recorded"), [UNTOLD | {"latency_e2e_ms": None}],
            ["tell no latency and no tokens", 'unmeasured = ["latency", "tokens"]'], id="recorded-neither",
        ),
        pytest.param(
            plan("recorded", unmeasured=("tokens",)), [UNTOLD | {"latency_e2e_ms": None}],
            ["tell no latency,", 'unmeasured = ["latency"]'], id="one-is-declared",
        ),
        pytest.param(
            plan("recorded", unmeasured=("latency", "tokens")), [UNTOLD | {"latency_e2e_ms": None}], [], id="both-are",
        ),
    ],
)  # fmt: skip
def test_where_nothing_was_measured_that_comes_first(of: Plan, replies: list[dict[str, Any]], says: list[str]) -> None:
    found = list(signs(of, *replies).first_warnings())
    assert len(found) == bool(says)
    assert all(part in found[0] for part in says)


THINK = plan(tags=("think",))
LATER = "<think>Hm.</think>Seven.", "So: <think>Hm.</think>Seven."


@pytest.mark.parametrize(("derivation", "clauses"), [(3, {" (R1.4)", " (R3.7)"}), (4, set())])
def test_clauses_are_cited_before_derivation_4_alone(derivation: int, clauses: set[str]) -> None:
    found = AnswerSigns(THINK.candidate, derivation=derivation)
    for sample, text in enumerate(LATER):
        found.add(Reply(sample=sample, role="candidate", text=text, latency_e2e_ms=1), text)
    told = " ".join([*found.first_warnings(), *found.warnings()])
    assert {*re.findall(r" \([A-Z][\d.]+\)", told)} == clauses


@pytest.mark.parametrize(
    ("of", "text", "says"),
    [
        pytest.param(plan(), "Hm. Seven.\n</think>\n\nSeven.", "hold </think>: thoughts were judged", id="closing"),
        pytest.param(plan(), "<think>Hm.</think>Seven.", 'declare model_reasoning_tags = ["think"]', id="a-block"),
        pytest.param(plan(), "<think>Hm. It was cut", "hold <think>", id="opening"),
        pytest.param(plan(), "<Reasoning>a</REASONING> b", '["reasoning"]', id="another-tag-in-capitals"),
        pytest.param(plan(), "[THINK]a[/THINK]b", "hold [think]", id="in-brackets"),
        pytest.param(plan(), "<|channel|>analysis<|message|>a", "hold <|channel|>analysis", id="channels"),
        pytest.param(THINK, "Hm.\n</think>\nSeven.", None, id="declared-without-opening-and-moved"),
        pytest.param(THINK, "So: <think>Hm.</think>Seven.", "does not begin with <think>", id="declared-and-later"),
        pytest.param(THINK, "<think>Hm. It was cut", "hold <think>", id="declared-and-never-closed"),
        pytest.param(THINK, "<think>Hm.</think>Seven.", None, id="declared-and-moved"),
        pytest.param(plan(), "I think <b>seven</b>, a thinking person's </thinker>", None, id="words"),
    ],
)
def test_thoughts_in_answers_are_told(of: Plan, text: str, says: str | None) -> None:
    found = list(signs(of, *[{"text": text}] * 3).warnings())
    assert len(found) == (says is not None)
    assert says is None or (says in found[0] and found[0].startswith("3 answers "))


CUT = {"finish_reason": "length"}


@pytest.mark.parametrize(
    ("reply", "says", "n_judged"),
    [
        pytest.param({"text": ""} | CUT, "1 answer was cut by max_tokens before any text came", 0, id="empty"),
        pytest.param({"text": None, "reasoning_characters": 9} | CUT, "before any text came", 0, id="in-its-thoughts"),
        pytest.param({"text": "Sev"} | CUT, None, 1, id="judged"),
        pytest.param({"text": None}, None, 0, id="empty-and-whole"),
        pytest.param(
            {"text": None, "reasoning_characters": 9}, "1 answer came without text; the text stood apart", 0, id="apart"
        ),
        pytest.param({"text": "a", "reasoning_characters": 9}, None, 0, id="thoughts-apart-as-they-should"),
    ],
)
def test_why_no_text_came_is_told_and_apart_from_what_was_judged(
    reply: dict[str, Any], says: str | None, n_judged: int
) -> None:
    found = signs(plan(), reply)
    assert found.n_cut_and_judged == n_judged
    warnings = list(found.warnings())
    assert len(warnings) == (says is not None)
    assert says is None or says in warnings[0]


@pytest.mark.parametrize(
    ("derivation", "answer", "reasoning"),
    [(1, "Hm.</think>Seven.", None), (2, "Hm.</think>Seven.", None), (3, "Seven.", "Hm.")],
)
def test_thoughts_without_an_opening_tag_are_moved_from_derivation_3_on(
    derivation: int, answer: str, reasoning: str | None
) -> None:  # R3.7
    history = read_history([Reply(sample=0, role="candidate", text="Hm.</think>Seven.")], THINK, V1, derivation)
    assert (history.answer, history.reasoning) == (answer, reasoning)
