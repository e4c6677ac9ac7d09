"""A criterion whose judge quotes what shows it: the quote stands in what was judged, or the reply is rejected."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchbook.ask.settings import ModelConfig
from benchbook.evalsets import Item
from benchbook.evaluators.registry import evaluator_asked_for
from benchbook.evaluators.rubric.plan import JudgePrompt, reply_schema
from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.evaluators.rubric.reply import Judged, Parsed, parse_reply
from benchbook.evaluators.rubric.spec import RubricSpec
from benchbook.evaluators.verify import verify
from running import benchbook_here, run
from scripted_server import JUDGE_WORDS, OK_CANDIDATE, OK_JUDGE, running

HEAD = 'name = "own"\nversion = 1\nabout = "x"\n'
GATE = '[[gates]]\naggregate = "pass_rate"\nat_least = 0.5\n'
PROMPT = JUDGE_WORDS + "\n{{criteria}}\n{{transcript}}\n{{answer}}\n{{reply}}\n"


def toml(more: str = "quote = true", gates: str = GATE) -> str:
    return f'{HEAD}[[criteria]]\nname = "kind"\nquestion = "Kind?"\nscale = [0, 1, 2]\nat_least = 1\n{more}\n{gates}'


def spec_with(more: str = "quote = true") -> RubricSpec:
    return read_rubric({"spec.toml": toml(more).encode(), "prompt.txt": PROMPT.encode()})


ANSWER = "Dear Ann, we are “very” sorry. Your parcel left today; it comes on Friday."
TALK = Item(
    id="a",
    prompt="(the talk)",
    messages=[
        {"role": "user", "content": "Where is my parcel?"},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "track", "arguments": '{"parcel": "B-7"}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "left the depot"},
    ],
)  # fmt: skip


def reply(**more: Any) -> str:
    return json.dumps({"kind_score": 2, "kind_quote": "we are", "rationale": "So."} | more)


@pytest.mark.parametrize(
    ("quote", "found", "spans"),
    [
        ("very sorry", "not_found", ()),  # the quotation marks stand in between
        ('we are "very" sorry', "normalised", ((10, 29),)),
        ("we are “very” sorry", "exact", ((10, 29),)),
        ("Dear Ann … on Friday", "fragments", ((0, 8), (64, 73))),
        ("on Friday … Dear Ann", "not_found", ()),
    ],
)
def test_where_a_quote_stands(quote: str, found: str, spans: tuple[tuple[int, int], ...]) -> None:
    parsed = parse_reply(reply(kind_quote=quote), spec_with('quote = "report"'), judged=Judged(ANSWER, None))
    assert isinstance(parsed, Parsed)
    (one,) = parsed.quotes
    assert (one.criterion, one.text, one.found, one.spans, one.turn) == ("kind", quote, found, spans, None)


LONG = " ".join(["word"] * 61)


@pytest.mark.parametrize("rule", ["true", '"report"'])
@pytest.mark.parametrize(
    ("more", "reason", "detail"),
    [
        ({"kind_quote": 3}, "bad_quote", "kind_quote is integer, not a string"),
        ({"kind_quote": None}, "bad_quote", "kind_quote is null, not a string"),
        ({"kind_quote": ""}, "bad_quote", "kind_quote is '': too short to be a quote"),
        ({"kind_quote": "we "}, "bad_quote", "kind_quote is 'we ': too short to be a quote"),
        ({"kind_quote": LONG}, "bad_quote", "kind_quote has 61 words, over 60"),
        ({"kind_score": 3, "kind_quote": "nowhere"}, "score_out_of_range", "kind_score is outside 0, 1, 2"),
        ({"kind_quote": "nowhere", "rationale": ""}, "bad_rationale", "rationale is empty"),
    ],
)
def test_what_is_no_quote(rule: str, more: dict[str, Any], reason: str, detail: str) -> None:
    found = parse_reply(reply(**more), spec_with(f"quote = {rule}"), judged=Judged(ANSWER, None))
    assert not isinstance(found, Parsed)
    assert (found.reason, found.detail) == (reason, detail)


def test_a_quote_must_be_there() -> None:
    text = json.dumps({"kind_score": 2, "rationale": "So."})
    found = parse_reply(text, spec_with(), judged=Judged(ANSWER, None))
    assert not isinstance(found, Parsed)
    assert (found.reason, found.detail) == ("missing_key", "there is no 'kind_quote'")


def test_what_does_not_apply_has_no_quote() -> None:
    two = toml("not_applicable = true\nquote = true", "") + (
        f'[[criteria]]\nname = "safe"\nquestion = "Safe?"\nscale = [0, 1]\n{GATE}'
    )
    spec = read_rubric({"spec.toml": two.encode(), "prompt.txt": PROMPT.encode()})
    text = reply(kind_score=None, kind_quote=None, safe_score=1)
    parsed = parse_reply(text, spec, judged=Judged(ANSWER, None))
    assert isinstance(parsed, Parsed)
    assert (parsed.scores, parsed.quotes) == ((None, 1), ())
    assert reply_schema(spec)["properties"]["kind_quote"] == {"type": ["string", "null"]}


@pytest.mark.parametrize(
    ("turn", "quote", "expected"),
    [
        (1, "my parcel", ("exact", ((9, 18),), 1)),
        (2, "calls track", ("exact", ((0, 11),), 2)),
        (3, "LEFT the depot", ("normalised", ((0, 14),), 3)),
        (4, "Your parcel", ("exact", ((31, 42),), 4)),
        (3, "my parcel", "kind_quote does not stand in turn 3: 'my parcel'"),
        (0, "my parcel", "kind_turn is no turn's number; there are the turns 1 to 4"),
        (5, "my parcel", "kind_turn is no turn's number; there are the turns 1 to 4"),
        (True, "my parcel", "kind_turn is boolean; there are the turns 1 to 4"),
        ("1", "my parcel", "kind_turn is string; there are the turns 1 to 4"),
    ],
)
def test_a_quote_from_a_turn(turn: Any, quote: str, expected: Any) -> None:
    spec = spec_with('quote = true\nquote_from = "transcript"')
    found = parse_reply(reply(kind_quote=quote, kind_turn=turn), spec, judged=Judged(ANSWER, TALK))
    if isinstance(found, Parsed):
        (one,) = found.quotes
        assert (one.found, one.spans, one.turn) == expected
    else:
        assert found.detail == expected


def test_what_the_judge_is_told() -> None:
    spec = spec_with('quote = true\nquote_from = "transcript"')
    asked = JudgePrompt(spec).render(TALK, ANSWER)
    assert asked == (
        f"{JUDGE_WORDS}\n"
        "- kind_score (0, 1, 2; with kind_quote, words of one turn that show it, copied letter by letter, and "
        "kind_turn, the number of that turn): Kind?\n"
        "[1] user:\nWhere is my parcel?\n\n"
        '[2] assistant:\ncalls track({"parcel": "B-7"}), as c1\n\n'
        "[3] tool, result of c1:\nleft the depot\n\n"
        f"[4] assistant:\n{ANSWER}\n"
        f"{ANSWER}\n"
        '{"kind_score": <0 | 1 | 2>, "kind_quote": "<the quote>", "kind_turn": <the number of its turn>, '
        '"rationale": "<why, in at most 80 words>"}\n'
    )
    schema = reply_schema(spec)
    assert (schema["properties"]["kind_quote"], schema["properties"]["kind_turn"]) == (
        {"type": "string"}, {"type": "integer"},
    )  # fmt: skip
    assert schema["required"] == ["kind_score", "kind_quote", "kind_turn", "rationale"]


# ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def written(folder: Path, text: str) -> str:
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text(text, encoding="utf-8")
    (folder / "prompt.txt").write_text(PROMPT + "Question: {{item.prompt}}", encoding="utf-8")
    return str(folder)


def quoting(*quotes: dict[str, Any]) -> Any:
    """A judge that gives these, one a reply."""

    def replies(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        del request
        return OK_CANDIDATE if role == "candidate" else OK_JUDGE | {"content": reply(**quotes[n])}

    return replies


def test_a_quote_that_is_not_found_is_asked_for_again(tmp_path: Path) -> None:
    spec = written(tmp_path / "own", toml())
    quotes = [{"kind_quote": one} for one in ("Seven.", "Eight.", "SEVEN.", "Nine.", "Ten..")]
    with running(quoting(*quotes)) as server:
        result = run(tmp_path, server, 3, spec=spec, max_connections=1, reports=str(tmp_path / "reports"))
    shutil.rmtree(spec)
    rows = pl.read_parquet(result.record.samples)
    assert rows["kind_score"].to_list() == [2, 2, None]
    assert rows["parse_error_reason"].to_list() == [None, None, "quote_not_found"]
    assert rows["quotes"].to_list() == [
        [{"criterion": "kind", "quote": "Seven.", "found": "exact", "turn": None, "spans": [{"start": 0, "end": 6}]}],
        [{"criterion": "kind", "quote": "SEVEN.", "found": "normalised", "turn": None,
          "spans": [{"start": 0, "end": 6}]}],
        [],
    ]  # fmt: skip
    file = json.loads(result.record.aggregates.read_bytes())
    assert file["ledger"]["unscored_by_reason"] == {"parse_error:quote_not_found": 1}
    assert "kind_quote_found_rate" not in file["aggregates"]  # all that are counted were found
    assert verify(result.record).holds
    shown = benchbook_here("show", str(result.record.path), "--sample", "0").stdout.decode()
    assert '"quote": "Seven."' in shown
    assert benchbook_here("rescore", str(result.record.path), "--reports", str(tmp_path / "again")).returncode == 0
    page = (tmp_path / "again" / "run" / "report.html").read_text(encoding="utf-8")
    assert "Judge&#x27;s quote for kind: stands in the answer, characters 1 to 6" in page
    assert "stands, but for its form, in the answer, characters 1 to 6" in page


def test_quotes_that_are_counted(tmp_path: Path) -> None:
    gates = '[[gates]]\naggregate = "kind_quote_found_rate"\nat_least = 0.5\n'
    spec = written(tmp_path / "own", toml('quote = "report"', gates))
    quotes = [{"kind_quote": one} for one in ("Seven.", "Eight.", "Nine.")]
    with running(quoting(*quotes)) as server:
        result = run(tmp_path, server, 3, spec=spec, max_connections=1, reports=None)
    file = json.loads(result.record.aggregates.read_bytes())
    assert file["aggregates"]["kind_quote_found_rate"] == 0.333333333
    assert file["intervals"]["kind_quote_found_rate"]["n"] == 3
    (gate,) = json.loads(result.record.decision.read_bytes())["gates"]
    assert (gate["value"], gate["holds"]) == (0.333333333, False)
    assert verify(result.record).holds
    assert benchbook_here("show", str(result.record.path)).returncode == 0


def test_turns_of_a_run_that_stops_early_under_a_panel(tmp_path: Path) -> None:
    """Who finds out where a run stopped needs the items, too."""
    spec = written(tmp_path / "own", toml('quote = "report"\nquote_from = "transcript"'))
    quotes = [{"kind_quote": "What is", "kind_turn": 1}, {"kind_quote": "Seven.", "kind_turn": 2}] * 30
    with running(quoting(*quotes)) as server:
        judges = tuple(
            ModelConfig(model=f"openai/{name}@2026-01-01", name=name, base_url=server.base_url) for name in "jk"
        )
        result = run(
            tmp_path, server, 30, spec=spec, max_connections=1, reports=None, until_decided=True, repeats=2,
            judge=None, judge_base_url=None, judges=judges, panel_rule="worst",
        )  # fmt: skip
    assert verify(result.record).holds
    assert result.derived.aggregates.early_stop.decision == "READY"
    row = pl.read_parquet(result.record.samples).to_dicts()[0]
    found = [row["quotes"], *(vote["quotes"] for vote in row["votes"])]
    assert [(one[0]["turn"], one[0]["found"]) for one in found] == [(1, "exact"), (1, "exact"), (2, "exact")]


def test_replies_are_parsed_with_what_was_judged(tmp_path: Path) -> None:
    of_answer = evaluator_asked_for(written(tmp_path / "own", toml()))
    assert of_answer.parse_line({"id": "1", "reply": reply(), "answer": ANSWER})["quotes"][0]["found"] == "exact"
    of_turns = written(tmp_path / "turns", toml('quote = true\nquote_from = "transcript"'))
    item = {"id": "a", "prompt": "Where is it?"}
    cases = [
        {"id": "1", "reply": reply(kind_quote="Where", kind_turn=1), "answer": ANSWER, "item": item},
        {"id": "2", "reply": reply(kind_quote="Where", kind_turn=1), "answer": ANSWER},
        {"id": "3", "reply": reply(kind_quote="Where", kind_turn=1)},
    ]
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, cases)), encoding="utf-8")
    done = benchbook_here("parse", of_turns, str(tmp_path / "replies.jsonl"))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["ok"] for line in lines] == [True, False, False]
    assert "item: expected the item" in lines[1]["detail"]
    assert "answer: expected the text that was judged" in lines[2]["detail"]
