"""Texts of a site that are written once: whatever refers to one gives it back."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import msgspec

from benchbook.comparison.text_difference import text_difference
from benchbook.server.samples import CUT
from benchbook.server.site.texts import SIGN, SharedTexts
from server.test_site import TEXTS, in_node

LONG = "The quick brown fox jumps over the lazy dog; so it does. "
LETTERS = ["a", "B", " ", "\n", '"', "\\", "é", "漢", "👩‍🔬", "\u202e", "\x00", SIGN, "<b>"]


def resolved(texts: SharedTexts, values: list[Any]) -> Any:
    """The values as the page reads them."""
    parts = list(texts.parts())
    case = {
        "rows": values,
        "firsts": {f"texts-{place}": first for place, (first, _) in enumerate(parts)},
        "scripts": {f"texts-{place}": part for place, (_, part) in enumerate(parts)},
    }
    return in_node(TEXTS, [case])[0]


def test_what_is_shared_comes_back() -> None:
    random = Random(7)
    some = ["".join(random.choices(LETTERS, k=random.choice([0, 3, 39, 41, 399, 401, 700, 2_000]))) for _ in range(150)]
    values: list[Any] = [
        *({"text": one, "of": [one, {"again": one}], "cut": one[:CUT]} for one in some),
        *({"cut": one[:CUT]} for one in some),
        [SIGN, f"{SIGN}0", f"{SIGN}7:1:2", f"{SIGN}{SIGN}", "", None, 1.0, 12345678901, True],
    ]
    texts = SharedTexts()
    shared = [texts.shared(one) for one in values]
    assert resolved(texts, shared) == values


def test_a_text_is_written_once() -> None:
    texts, text = SharedTexts(), LONG * 10
    shared = [texts.shared({"text": text}), texts.shared([text[:CUT], text])]
    assert [one for _, part in texts.parts() for one in part] == [text]
    assert resolved(texts, shared) == [{"text": text}, [text[:CUT], text]]


def test_the_start_of_a_text_that_is_far_longer_is_one_of_its_own() -> None:
    texts, text = SharedTexts(), LONG * 1_000
    texts.shared(text)
    texts.shared(text[:CUT])  # else a list of such texts would load them whole
    assert [one for _, part in texts.parts() for one in part] == [text, text[:CUT]]


def test_what_texts_differ_in_comes_back_and_takes_no_text() -> None:
    random, items = Random(11), []
    for n in range(60):
        first = "".join(random.choices(LETTERS, k=40 * (n % 7))) + LONG * (n % 5)
        answers: list[dict[str, Any]] = [{"run": "a", "text": first, "segments": None}]
        for other in (LONG * (n % 3) + first + "!", first[: CUT - 1], first[:CUT], None, "no " * n):
            segments = None if other is None else text_difference(first, other)
            said = None if segments is None else [{"op": one.op, "text": one.text} for one in segments]
            answers.append({"run": "b", "text": other, "segments": said})
        items.append({"position": n, "prompt": LONG, "answers": answers})
    texts = SharedTexts()
    shared = [texts.shared_item(one) for one in items]
    held = {one for _, part in texts.parts() for one in part}
    assert held <= {LONG} | {one["text"] for item in items for one in item["answers"]} | {
        one["text"] for item in items for answer in item["answers"] for one in answer["segments"] or ()
        if one["text"].startswith(SIGN)
    }  # fmt: skip
    assert resolved(texts, shared) == items


def test_texts_are_in_parts_of_some_size() -> None:
    texts = SharedTexts()
    for n in range(60):
        texts.shared(f"{n} " + "x" * 10_000)
    firsts = [first for first, _ in texts.parts()]
    assert firsts[0] == 0
    assert 2 <= len(firsts) <= 4
    assert all(len(msgspec.json.encode(part)) < 300_000 for _, part in texts.parts())
    assert json.dumps([texts.shared("x" * 39), texts.shared("x" * 40)]) == json.dumps(["x" * 39, f"{SIGN}60"])
