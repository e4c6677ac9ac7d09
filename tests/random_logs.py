"""Random logs of other tools, for properties: everything that a sample may say, or may not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from benchbook.evalsets.conversations import transcript
from benchbook.exchange.log import LogFailure, LogSample, LogScore, LogScorer
from made_logs import Made

TEXTS = st.sampled_from(
    [
        "2",
        "two",
        "Zwei ½ — ü",
        'a "quoted"\nline',
        "",
        " spaces ",
        "=1+1",
        "<b>x</b>",
        "\ud835",
        "NaN",
        "attachment://1",
        "{{prompt}}",
        "[1]",
    ]
)
_SAID = st.sampled_from(["It is.", "The words differ.", "GRADE: C"])
_MAYBE = st.none() | _SAID
_IDS = st.lists(
    st.sampled_from(["a", "7", "07", "item 10", "../x", "ü", "a/b", "A", "0"]), min_size=1, max_size=4, unique=True
)
SCORERS = (
    LogScorer(name="match", lowest=0.0, highest=1.0),
    LogScorer(name="pair", higher_is_better=False),
    LogScorer(name="grade", lowest=0.0, highest=10.0, judge="acme/judge", passes_at=6.0),
)


@st.composite
def scores(draw: st.DrawFn, scorer: LogScorer) -> LogScore:
    """A word of a scorer: a value on its scale, or none, with the reason."""
    if draw(st.integers(0, 3)) == 0:
        return LogScore(value=None, unscored=draw(st.sampled_from(["NaN", "skipped"])), explanation=draw(_MAYBE))
    if scorer.name == "pair":
        return LogScore(value=None, parts=draw(st.sampled_from([(-1.5, 2.0), (0.0, 1.0)])))
    if scorer.name == "match" and draw(st.integers(0, 3)) == 0:
        return LogScore(value=1.0, said="C", passed=True)
    values = [0.0, 1 / 3, 0.5, 1.0] if scorer.name == "match" else [0.0, -1.0, 6.0, 7.5, 10.0, 1e300]
    return LogScore(
        value=draw(st.sampled_from(values)),
        passed=draw(st.none() | st.booleans()),
        answer=draw(st.none() | st.sampled_from(["2", "two"])),
        explanation=draw(_MAYBE),
        guessed=draw(st.none() | st.just("its verdict is in lower case")) if scorer.judge else None,
    )


@st.composite
def items(draw: st.DrawFn, id_: str) -> dict[str, Any]:
    """What all repeats of an item have in common."""
    prompt = draw(st.sampled_from(["1 + 1?", f"Of {id_}?", "Zwei\nZeilen\u2028?"]))
    messages = None
    if draw(st.integers(0, 3)) == 0:
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}]
        prompt = transcript(messages)
    return {
        "id": id_,
        "prompt": prompt,
        "messages": messages,
        "references": tuple(draw(st.lists(st.sampled_from(["2", "two", "zwei"]), max_size=2, unique=True))),
        "choices": draw(st.sampled_from([(), ("one", "two")])),
        **{name: draw(st.none() | st.sampled_from(["x", "y z"])) for name in ("context", "group", "category")},
    }


@st.composite
def samples(draw: st.DrawFn, item: dict[str, Any], repeat: int) -> LogSample:
    """One repeat of an item: answered and scored, or failed."""
    failed = draw(st.integers(0, 4)) == 0
    said = {} if failed and draw(st.booleans()) else {
        one.name: draw(scores(one)) for one in SCORERS if draw(st.integers(0, 5))
    }  # fmt: skip
    answer = None if failed and draw(st.booleans()) else draw(TEXTS)
    kinds = st.sampled_from(["error", "timeout", "cancelled"])
    counts = draw(st.sampled_from([(None, None), (3, 5), (3, None)]))
    return LogSample(
        **item,
        repeat=repeat,
        answer=answer,
        scores=said,
        failure=LogFailure(message=draw(st.sampled_from(["HTTP 500", "late"])), kind=draw(kinds)) if failed else None,
        limit=draw(st.none() | st.sampled_from(["token", "of our own"])) if not failed else None,
        finish_reason=draw(st.none() | st.sampled_from(["stop", "length", "eos"])),
        input_tokens=counts[0],
        output_tokens=counts[1],
        latency_ms=draw(st.none() | st.just(1500)),
        model_reported=draw(st.none() | st.just("m-2026")),
        metadata=draw(st.sampled_from([{}, {"page": [1], "of": {"a": None}}, {"metadata": "x"}])),
    )


@st.composite
def logs(draw: st.DrawFn) -> Made:
    """A log of a few items, some of which were not asked as often as others."""
    repeats = draw(st.integers(1, 2))
    found = []
    for repeat in range(repeats):
        for item in draw(st.shared(_IDS.flatmap(lambda ids: st.tuples(*map(items, ids))), key="items")):
            if repeat == 0 or draw(st.integers(0, 3)):
                found.append(draw(samples(item, repeat)))
    return Made(
        found, scorers=SCORERS, repeats=repeats, tool="other", n_claimed=len(found) + draw(st.integers(0, 2)),
        status=draw(st.sampled_from(["complete", "complete", "being_written", "failed", "cancelled"])),
        generation_params={"temperature": 0.5},
    )  # fmt: skip
