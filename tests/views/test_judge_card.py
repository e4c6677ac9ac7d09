"""A judge's card: the numbers of the record, and text that stays text."""

from __future__ import annotations

import json
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchbook.labels.judge_card import JudgeCard, judge_card
from benchbook.labels.labels import LabelBook, SheetRow, create_labels, give_labels
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import FIELDS, Given
from benchbook.record.folder import Record
from benchbook.views.judges import card_html, card_lines, card_markdown
from labelled import judged_run

HOSTILE = "<script>alert(1)</script> | `x` \x1b[31m ![i](http://x) =1+1 \u202e"


def label_all(record: Record, folder: Path, n: int, who: str = "ann", shift: int = 0) -> LabelBook:
    """Somebody labels `n` samples as the judge did, the first `shift` of them otherwise."""
    book = sample_labels(record, folder / "labels", n=n, stratify=["accuracy_score"], seed=3)
    given = []
    for place, sample in enumerate(book.started.samples):
        score: Any = 0 if place < shift else 2
        given += [Given(sample, who, field, score) for field in FIELDS]
    return give_labels(book, given)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> JudgeCard:
    folder = tmp_path_factory.mktemp("card")
    items = [{"category": f"{HOSTILE}{n % 2}"} for n in range(24)]
    record = judged_run(folder, [(2, 2)] * 24, items=items)
    book = label_all(record, folder, 20, who=HOSTILE.strip()[:40], shift=3)
    card = judge_card(record, book, n_resamples=200)
    return msgspec.structs.replace(card, dataset_id=HOSTILE, judge_model_id=f"x/{HOSTILE}", run_id=HOSTILE)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.add(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_stays_text(hostile: JudgeCard) -> None:
    page = "".join(card_html(hostile))
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert not tags.names & {"script", "img", "iframe", "form", "input"}
    assert "&lt;script&gt;" in page
    assert "default-src" in page
    assert not set(page) & {"\x1b", "\u202e"}


def test_markdown_stays_text(hostile: JudgeCard) -> None:
    text = "".join(card_markdown(hostile))
    assert "<script" not in text
    assert "![i]" not in text
    assert not set(text) & {"\x1b", "\u202e"}
    for line in text.splitlines():
        if line.startswith("| ") and "script" in line:
            assert line.replace("\\|", "").count("|") == 6  # the cell holds its bar


def test_lines_stay_text(hostile: JudgeCard) -> None:
    from benchbook.text import visible

    assert all("\n" not in visible(line) for line in card_lines(hostile) if "x/" not in line)


def test_who_labelled_is_not_on_the_card(tmp_path: Path) -> None:
    record = judged_run(tmp_path, [(2, 2)] * 12)
    card = judge_card(record, label_all(record, tmp_path, 8, who="Ann Onymous"), n_resamples=200)
    assert "Onymous" not in "".join([*card_html(card), *card_markdown(card), json.dumps(msgspec.to_builtins(card))])
    assert card.labels.n_labellers == 1


def test_repeats_say_whether_the_judge_repeats_itself(tmp_path: Path) -> None:
    """A scripted judge gives the same answer the same scores; three repeats of an item are one cluster."""
    record = judged_run(tmp_path, [(n % 3, 2) for n in range(12)], repeats=3)
    card = judge_card(record, label_all(record, tmp_path, 20), n_resamples=200)
    assert card.retest.n_items == 12
    assert card.retest.same_scores.estimate == 1
    assert card.retest.kappa["accuracy_score"].estimate == 1
    assert card.calibration.n_clusters == 12
    assert any("12 groups or items" in line for line in card_lines(card))


def test_groups_are_clusters(tmp_path: Path) -> None:
    record = judged_run(tmp_path, [(n % 3, 2) for n in range(12)], items=[{"group": f"g{n % 4}"} for n in range(12)])
    assert judge_card(record, label_all(record, tmp_path, 8), n_resamples=200).calibration.n_clusters == 4


def test_what_is_declared_unmeasured_stays_out(tmp_path: Path) -> None:
    recorded = {"model": "recorded/m@1", "model_path": None, "outputs": str(tmp_path / "outputs.jsonl")}
    record = judged_run(tmp_path, [(2, 2)] * 12, unmeasured=("latency", "tokens"), **recorded)
    card = judge_card(record, label_all(record, tmp_path, 8), n_resamples=200)
    assert card.calibration.corrected_decision is not None
    assert "latency_e2e_p95_ms" not in [gate.aggregate for gate in card.calibration.corrected_decision.gates]
    assert card.calibration.corrected_decision.decision != "READY"


def test_prices_are_on_it(tmp_path: Path) -> None:
    record = judged_run(tmp_path, [(2, 2)] * 12, judge_input_price=Decimal("1.5"), judge_output_price=Decimal(2))
    card = judge_card(record, label_all(record, tmp_path, 8), n_resamples=200)
    assert card.cost.usd == f"{12 * (10 * 1.5 + 10 * 2) / 1e6:.6f}"


def test_samples_that_somebody_chose_are_told(tmp_path: Path) -> None:
    """A record of labels that names a seed, and other samples than it draws."""
    record = judged_run(tmp_path, [(2, 2)] * 12)
    book = sample_labels(record, tmp_path / "labels", n=4, stratify=[], seed=3)
    assert judge_card(record, book, n_resamples=200).labels.as_drawn
    others = [n for n in range(12) if n not in book.started.samples][:4]
    rows = [SheetRow(sample=n, item_id=f"i{n:03d}", prompt="?", answer="!") for n in others]
    first = msgspec.structs.replace(book.started, samples=others, answers=[])
    chosen = create_labels(tmp_path / "chosen", rows, lambda inputs: msgspec.structs.replace(first, inputs=inputs))
    card = judge_card(record, chosen, n_resamples=200)
    assert not card.labels.as_drawn
    assert any("not those that their seed draws" in line for line in card_lines(card))
