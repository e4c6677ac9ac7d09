"""A sample under a rubric of one's own: what its judge said, with quotes where they stand, as the page receives it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbook.labels.labels import give_labels
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import Given
from running import benchbook_here
from server.making import Api, api_over
from talked import MARKUP, talked_run


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("talked")
    talked_run(folder)
    api = api_over(folder / "runs", str(folder / "catalog.sqlite"))
    api.app.services.watcher.look()
    yield api
    api.app.stop()


def sample(api: Api, number: int) -> dict[str, Any]:
    found: dict[str, Any] = api.json(f"/api/v1/runs/talked/samples/{number}")
    return found


@pytest.mark.parametrize(
    ("number", "given"),
    [
        (0, [("Tone", "cold", "bad"), ("Sources", "does not apply", "none"), ("Short", "1", "good"),
             ("Item criteria", "0.1250", "none")]),
        (1, [("Tone", "kind", "good"), ("Sources", "0", "none"), ("Short", "1", "good"),
             ("Item criteria", "0.0000", "none")]),
        (2, [(title, "– (parse_error)", "none") for title in ("Tone", "Sources", "Short", "Item criteria")]),
    ],
)  # fmt: skip
def test_each_criterion_has_a_grade_by_its_name_or_says_why_not(
    talked: Api, number: int, given: list[tuple[str, str, str]]
) -> None:
    criteria = sample(talked, number)["judged"]["criteria"]
    assert [(one["title"], one["given"], one["tone"]) for one in criteria] == given
    assert [one["scale"] for one in criteria] == [
        "rude, cold, kind; at least kind passes; weight 2", "0 to 2; any passes; weight 1",
        "0 to 1; at least 1 passes; weight 1", "0 to 1; any passes; weight 1",
    ]  # fmt: skip


def in_utf_16(text: str, start: int, end: int) -> str:
    """A part of a text, as a browser cuts it."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_quotes_stand_where_the_page_marks_them(talked: Api) -> None:
    """Behind a character that a browser counts twice, in fragments, and nowhere."""
    first, second = sample(talked, 0), sample(talked, 1)
    found = []
    for one in (first, second):
        texts = {turn["number"]: turn["text"] for turn in one["turns"]} | {None: one["text"]}
        for criterion in one["judged"]["criteria"]:
            if (quote := criterion["quote"]) is not None:
                marked = [in_utf_16(texts[quote["turn"]], **span) for span in quote["spans"]]
                found.append((quote["turn"], quote["found"], quote["words"], marked))
    assert found == [
        (1, True, "stands in turn 1, characters 13 to 20", ["📦 parcel"]),
        (None, False, "it does not stand in the answer", []),
        (2, True, "its parts stand in turn 2, characters 1 to 5 and 8 to 15", ["We do", "dear Ann"]),
        (None, True, "stands, but for its form, in the answer, characters 1 to 5", ["We do"]),
    ]


def test_a_conversation_has_its_turns_by_the_numbers_that_quotes_name(talked: Api) -> None:
    assert [(one["number"], one["head"], one["text"]) for one in sample(talked, 0)["turns"]] == [
        (1, "user", f"Where is my 📦 parcel? {MARKUP}"),
        (2, "assistant", 'calls track({"parcel": "B-7"}), as c1'),
        (3, "tool, result of c1", "It left the depot.\n</div></main>"),
        (4, "assistant", "It left today, 📦 and comes on \u202eFriday."),
    ]
    assert [one["head"] for one in sample(talked, 1)["turns"]] == ["user", "assistant"]  # its quote names a turn
    assert "turns" not in sample(talked, 2)  # a prompt and an answer


def test_each_of_an_items_criteria_says_what_it_adds(talked: Api) -> None:
    found = sample(talked, 0)["judged"]["item_criteria"]
    assert [(one["number"], one["met"], one["tone"], one["weight"], one["adds"]) for one in found] == [
        (1, True, "good", "5", "adds 5 of 8"),
        (2, False, "none", "3", "adds 0 of 8"),
        (3, True, "bad", "-4", "takes away 4 of 8"),
    ]
    assert (found[0]["text"], found[0]["rationale"]) == (f"Names the day. {MARKUP}", f"Friday. {MARKUP}")
    assert sample(talked, 2)["judged"]["item_criteria"] == []


def test_cost_is_among_what_was_measured(talked: Api) -> None:
    rows = dict(sample(talked, 0)["judged"]["facts"]["rows"])
    assert (rows["Cost"], rows["Tokens in + out"]) == ("$0.00108", "1,000 + 20 = 1,020")  # 1000 at 1, 20 at 4


def test_a_run_says_what_its_scores_are_called(talked: Api) -> None:
    found = talked.json("/api/v1/runs/talked/criteria")["criteria"]
    assert [(one["name"], one["title"], one["scores"], one["grades"], one["may_not_apply"]) for one in found] == [
        ("tone", "Tone", [0, 1, 2], ["rude", "cold", "kind"], False),
        ("sources", "Sources", [0, 1, 2], [], True),
        ("short", "Short", [0, 1], [], False),
    ]


def test_what_two_people_said_is_named_as_the_judge_would(tmp_path: Path) -> None:
    record = talked_run(tmp_path).record
    book = sample_labels(record, tmp_path / "runs" / "people", n=1, stratify=(), seed=1)
    (sample,) = book.started.samples
    said = {"ann": {"tone_score": 2, "sources_score": None, "short_score": 1}}
    said["bob"] = {"tone_score": 1, "sources_score": 0, "short_score": 0}
    give_labels(book, [Given(sample, who, name, score) for who, all_ in said.items() for name, score in all_.items()])
    api = api_over(tmp_path / "runs", str(tmp_path / "catalog.sqlite"))
    disputes = api.json("/api/v1/labels/people/disputes")["disputes"]
    api.app.stop()
    assert [[one["words"] for one in dispute["opinions"]] for dispute in disputes] == [
        ["kind", "cold"], ["does not apply", "0"], ["1", "0"],
    ]  # fmt: skip


def test_what_no_judge_said_is_not_there(api: Api) -> None:
    assert not {"judged", "turns"} & api.json("/api/v1/runs/a/samples/0").keys()
    under_v1 = api.json("/api/v1/runs/rubric/samples/0")
    assert [one["title"] for one in under_v1["judged"]["criteria"]] == ["Accuracy", "Faithfulness"]


def test_the_report_says_the_same(tmp_path: Path) -> None:
    talked_run(tmp_path)
    done = benchbook_here("rescore", "talked", "--reports", "reports", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "reports" / "talked" / "report.html").read_text(encoding="utf-8")
    for words in (
        "tone cold  sources does not apply  short 1  ", "Tone (0 rude, 1 cold, 2 kind)",
        "met, weight 5, adds 5 of 8: Friday.", "takes away 4 of 8",
        "it does not stand in the answer", "$0.00108", "tone below the minimum",
    ):  # fmt: skip
        assert words in page, words
    assert "<img" not in page
