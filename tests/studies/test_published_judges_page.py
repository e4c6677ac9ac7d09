"""The page, its pictures and the list of judges say what results.json says, and results.json agrees with itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from xml.etree import ElementTree

import pytest

from published_judges.figures import pictures_of
from published_judges.page import judges_of, page_of
from published_judges.readers import READERS
from published_judges.sources import HOME, read_sources
from published_judges.template import filled
from published_judges.words import cell, percent, rate, rate_in_table
from support import ROOT, shared_data

RESULTS: Any = json.loads((HOME / "results.json").read_text(encoding="utf-8"))
RECORDS: Any = json.loads((HOME / "records.json").read_text(encoding="utf-8"))
DOCS = ROOT / "docs"


def shares_in(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        if "share" in value or "mean" in value:
            yield path, value
        for name, one in value.items():
            yield from shares_in(one, f"{path}/{name}")
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from shares_in(one, f"{path}/{place}")


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for one in value.values() for text in texts_in(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in texts_in(one))


# ── what is written follows from results.json ────────────────────────────────────────────────────────────────


def test_the_page_says_what_the_results_say() -> None:
    assert (DOCS / "explanation/published-judges.md").read_text(encoding="utf-8") == page_of(RESULTS, RECORDS)


def test_the_list_of_judges_says_what_the_results_say() -> None:
    assert (HOME / "judges.md").read_text(encoding="utf-8") == judges_of(RESULTS)


@pytest.mark.parametrize("name", sorted(pictures_of(RESULTS)))
def test_each_picture_shows_what_the_results_say(name: str) -> None:
    assert (DOCS / "pictures" / name).read_text(encoding="utf-8") == pictures_of(RESULTS)[name]


@pytest.mark.parametrize("name", sorted(pictures_of(RESULTS)))
def test_each_picture_is_on_the_page_and_has_words_for_who_does_not_see_it(name: str) -> None:
    root = ElementTree.fromstring(pictures_of(RESULTS)[name])
    svg = "{http://www.w3.org/2000/svg}"
    plain = {"svg", "title", "desc", "style", "rect", "text", "path", "circle"}
    assert {child.tag.removeprefix(svg) for child in root.iter()} <= plain
    assert root.findtext(f"{svg}title")
    assert root.findtext(f"{svg}desc")
    assert f"](../pictures/{name})" in page_of(RESULTS, RECORDS)


def test_a_figure_that_changes_changes_the_page() -> None:
    """None of the figures of the summary is typed into the template."""
    changed = deepcopy(RESULTS)
    changed["wins"]["raw"]["wrong"] |= {"k": 67, "share": 67 / 1684}
    assert "67 of 1,684" not in page_of(RESULTS, RECORDS)
    assert page_of(changed, RECORDS).count("67 of 1,684") == 2  # in the answer, and in the table
    assert set(re.findall(r"\d[\d,.]*\d %", (HOME / "page.template.md").read_text(encoding="utf-8"))) == {"95 %"}


# ── results.json agrees with itself ──────────────────────────────────────────────────────────────────────────


def test_every_share_has_its_n_and_its_interval() -> None:
    found = list(shares_in(RESULTS))
    assert len(found) > 1_000
    for path, one in found:
        if "mean" in one:
            assert one["low"] <= one["mean"] <= one["high"], path
        elif one["n"] == 0:
            assert one["k"] == 0, path
            assert one["share"] is one["low"] is one["high"] is None, path
        else:
            assert one["share"] == pytest.approx(one["k"] / one["n"], abs=1e-5), path
            assert 0 <= one["low"] <= one["share"] <= one["high"] <= 1, path


def test_totals_are_those_of_their_parts() -> None:
    assert RESULTS["judgements"] == sum(one["judgements"] for one in RESULTS["sources"]) >= 250_000
    assert len(RESULTS["sources"]) >= 8
    ranked = [found for key, found in RESULTS["by_source"].items() if key != "wmt"]
    for parts in (ranked, RESULTS["judges"]):
        assert RESULTS["wins"]["pairs"] == sum(one["pairs"] for one in parts)
        for kind in ("raw", "holm"):
            assert RESULTS["wins"][kind]["wins"] == sum(one[kind]["wins"] for one in parts)
            for share in ("wrong", "wrong_by_holm", "against_mean", "not_told_by_people"):
                for count in ("k", "n"):
                    assert RESULTS["wins"][kind][share][count] == sum(one[kind][share][count] for one in parts)


def test_drawings_are_as_many_as_are_said() -> None:
    least = RESULTS["settings"]["least_draws"]
    for n_labels, ways in RESULTS["corrected"].items():
        by_source = [found[n_labels] for found in RESULTS["corrected_by_source"].values() if n_labels in found]
        assert sum(found["draws"] for found in by_source) == ways["like_these"]["draws"]
        assert sum(found["wins"] for found in by_source) == ways["like_these"]["wins"]
        for found in ways.values():
            assert found["draws"] >= least
            decided, wrong = found["corrected"]["decided"], found["corrected"]["wrong"]
            assert wrong["n"] == decided["k"]
            assert wrong["k"] >= found["of_wrong"]["still_wrong"]["k"]


def test_no_text_of_a_source_is_in_the_results() -> None:
    """Names of judges and sources alone: none is as long as a sentence of a reply."""
    assert max(len(text) for found in (RESULTS, RECORDS) for text in texts_in(found)) <= 100


def test_records_verify_and_say_what_the_study_says() -> None:
    for key, found in RECORDS["sets"].items():
        assert found["verified"] == found["as_in_the_study"] == found["records"] > 0, key
        assert found["labels_verified"] == found["label_folders"], key
        pairs = found["pairs"]
        assert pairs["n"] == pairs["means"] == pairs["judged"] == pairs["all_labels"] == pairs["few_labels"], key
        assert pairs["others"] == [], key
    judgements = {one["key"]: one["judgements"] for one in RESULTS["sources"]}
    of_triviaqa = [found["samples"] for key, found in RECORDS["sets"].items() if key.startswith("triviaqa")]
    assert sum(of_triviaqa) == judgements["triviaqa"]
    assert RECORDS["sets"]["cje"]["samples"] == judgements["cje"]


def test_sources_are_those_that_are_fetched() -> None:
    assert [(one["key"], one["repository"], one["commit"], one["licence"]) for one in RESULTS["sources"]] == [
        (one.key, one.repository, one.commit, one.licence) for one in read_sources().values()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("key", sorted(READERS))
def test_the_sources_hold_as_many_judgements_as_the_results_say(key: str) -> None:
    folder = shared_data("llmbar") if key == "llmbar" else shared_data("published-judges") / key
    (expected,) = (one for one in RESULTS["sources"] if one["key"] == key)
    found = list(READERS[key](folder))
    assert len(found) == expected["judgements"]
    assert len({one.judge for one in found}) == expected["judges"]
    assert sum(one.reading == "none" for one in found) == expected["unread"]


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "0.0"),
        (0.0004, "< 0.1"),
        (0.0006, "0.1"),
        (0.03919, "3.9"),
        (0.9996, "> 99.9"),
        (0.999, "99.9"),
        (1.0, "100.0"),
    ],
)
def test_percentages_never_make_nothing_of_something(share: float, words: str) -> None:
    assert percent(share) == words


def test_a_share_is_written_with_its_n_and_its_interval() -> None:
    found = {"k": 66, "n": 1684, "share": 0.03919, "low": 0.02424, "high": 0.05992}
    assert rate(found) == "3.9 % (66 of 1,684; 2.4 to 6.0)"
    assert rate_in_table(found) == "66 of 1,684: 3.9 % (2.4 to 6.0)"
    assert rate_in_table({**found, "k": 1, "n": 7}) == "1 of 7"
    assert rate({"k": 0, "n": 0, "share": None, "low": None, "high": None}) == "–"


def test_a_judges_name_is_text_in_a_cell() -> None:
    assert cell("a|b <i> *c* `d` [e](f) g_h") == r"a\|b \<i\> \*c\* \`d\` \[e](f) g\_h"


def test_a_template_and_its_figures_must_fit() -> None:
    assert filled("# {a}\n\nOne {b}.\n", {"a": "1", "b": "2"}) == "# 1\n\nOne 2.\n"
    with pytest.raises(ValueError, match="differ in b, c"):
        filled("{a} {b}", {"a": "1", "c": "3"})


def test_paragraphs_are_wrapped_and_tables_are_not() -> None:
    words = " ".join(["word"] * 40)
    page = filled(f"- {words}\n\n| {words} |\n", {})
    item, table = page.rstrip("\n").split("\n\n")
    assert [line[:2] for line in item.split("\n")] == ["- ", "  "]
    assert max(map(len, item.split("\n"))) <= 120
    assert "\n" not in table
