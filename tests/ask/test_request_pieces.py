"""Requests made of pieces are the requests that are written anew, byte for byte."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask.request_pieces import RequestPieces
from benchbook.ask.requests import RolePlan, body_of, request_sha256
from benchbook.evalsets import Item
from benchbook.evaluators.candidate import CANDIDATE_PROMPT, PromptTemplate
from benchbook.evaluators.rubric.criteria import PromptMessage
from benchbook.evaluators.rubric.plan import Plan, Requests
from benchbook.evaluators.rubric.spec import rubric_v1

_texts = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            'quote " and \\',
            "\n\t\x00\x1f",
            "é\u2028😀",
            "{{prompt}} {{answer}}",
            "half \ud800",
            "",
            "text-0.",
        ]
    ),
)
_contexts = st.one_of(
    st.none(),
    _texts,
    st.dictionaries(st.text(max_size=3), st.integers()),
    st.lists(st.floats(allow_nan=False, allow_infinity=False)),
)
_items = st.builds(
    Item, id=_texts, prompt=_texts, expected_answer=st.none() | _texts, context=_contexts, category=st.none() | _texts
)
_role = RolePlan(
    model_id="p/m@1",
    provider="openai",
    name="m",
    params={"seed": 1, "zeta": "text-0.text---", "a": "text-0."},
    json_schema=True,
    stream=True,
)

_OF_MESSAGES = '[[messages]]\nrole = "system"\ncontent = "{{id}}"\n[[messages]]\nrole = "item"\n'
TEMPLATES = {
    "frozen": PromptTemplate(CANDIDATE_PROMPT, None),
    "own": PromptTemplate("own.txt", "{{id}}: {{prompt}}\n({{category}}) {{context}} {{ other }}{{unknown}}"),
    "nothing else": PromptTemplate("own.txt", "{{prompt}}"),
    "no placeholder": PromptTemplate("own.txt", 'say "yes"'),
    "of messages": PromptTemplate("own.toml", _OF_MESSAGES, of_messages=True),
}  # fmt: skip


def _plan(**more: Any) -> Plan:
    return Plan(
        spec="rubric@v1", spec_sha256="0", evalset_sha256="0", n_items=1, repeats=1, prompt_template_id="t",
        prompt_template_sha256="0", candidate=_role, judge=msgspec.structs.replace(_role, name="j"), **more,
    )  # fmt: skip


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
@given(item=_items)
def test_of_a_candidate(template: PromptTemplate, item: Item) -> None:
    requests = Requests(_plan(), rubric_v1(), template)
    assert requests.candidate_sha256(item) == request_sha256(requests.candidate(item))


@given(item=_items)
def test_of_an_item_with_messages_of_its_own(item: Item) -> None:
    asked = msgspec.structs.replace(item, messages=[{"role": "user", "content": item.prompt}])
    requests = Requests(_plan(), rubric_v1(), PromptTemplate(CANDIDATE_PROMPT, None, conversations=True))
    for one in (item, asked):
        assert requests.candidate_sha256(one) == request_sha256(requests.candidate(one))


@pytest.mark.parametrize("n_messages", [1, 3])
@given(item=_items, answer=_texts)
def test_of_a_judge(n_messages: int, item: Item, answer: str) -> None:
    spec = rubric_v1()
    if n_messages > 1:
        texts = ("You judge by {{criteria}}.", "{{answer}}{{item.context}}{{item.prompt}}", "{{transcript}}\n{{reply}}")
        roles = ("system", "user", "user")
        messages = tuple(PromptMessage(role, text) for role, text in zip(roles, texts, strict=True))  # type: ignore[arg-type]
        spec = replace(spec, messages=messages)
    requests = Requests(_plan(), spec, TEMPLATES["frozen"])
    assert requests.judge_sha256(item, answer) == request_sha256(requests.judge(item, answer))


def test_texts_come_in_the_order_of_the_bytes_not_of_the_messages() -> None:
    """Canonical JSON sorts keys: the second text may stand before the first."""
    pieces = RequestPieces[str](
        lambda texts: b'{"a":"%s","b":"%s"}' % (texts[1].encode(), texts[0].encode()), [[str], ["x", str]]
    )
    assert pieces.body("é") == '{"a":"xé","b":"é"}'.encode()
    assert pieces.sha256("é") == request_sha256(pieces.body("é"))


def test_a_request_is_what_the_wire_sends() -> None:
    item = Item(id="i", prompt='Why "so"?', context=None)
    requests = Requests(_plan(), rubric_v1(), TEMPLATES["nothing else"])
    assert requests.candidate_sha256(item) == request_sha256(body_of(_role, 'Why "so"?'))
