"""The reports of `answer_correctness@v1` runs: what was logged stands beside the score, and text stays text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchbook.library.objects import CorrectnessRun
from scored import scored
from views.made_up import HOSTILE
from views.test_html import TAGS, Page


def written(folder: Path, *given: Any, **more: Any) -> tuple[str, str]:
    """The page and the Markdown of a run."""
    made = scored(folder, *given, **more)
    page, markdown = CorrectnessRun(made.record, made.derived, None).write_reports(folder / "reports")
    return page.read_text(encoding="utf-8"), markdown.read_text(encoding="utf-8")


def test_the_loss_is_drawn_beside_the_score(tmp_path: Path) -> None:
    log = tmp_path / "train.jsonl"
    log.write_text('{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 1.25}\n', encoding="utf-8")
    html, markdown = written(tmp_path, training_metrics=(str(log),))
    page = Page(html)
    assert page.faults == []
    assert any("curve curve-0" in str(attributes.get("class")) for _, attributes in page.tags)
    assert "loss by step" in "".join(page.words)
    assert ".curve-0{" in html
    assert "## Training\n" in markdown
    assert "| run | 2 | 2.5 | 1 | 1.25 | 2 | 1.25 | 2 |" in markdown


def test_a_run_without_metrics_shows_that_and_no_empty_plot(tmp_path: Path) -> None:
    html, markdown = written(tmp_path)
    page = Page(html)
    assert "No training metrics." in page.words
    assert "svg" not in {tag for tag, attributes in page.tags if attributes.get("class") == "plot"}
    assert "## Training" not in markdown


def test_what_others_wrote_stays_text(tmp_path: Path) -> None:
    texts = [text for text in HOSTILE.values() if text.strip() and len(text) < 10_000]
    texts = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    items = [
        {"id": f"i{n} {text}", "prompt": text, "expected_answer": f"{text} {n}", "category": text}
        for n, text in enumerate(texts)
    ]
    predictions = [{"id": item["id"], "predicted": item["prompt"]} for item in items]
    html, markdown = written(tmp_path, predictions, items)
    page = Page(html)
    assert page.faults == []
    assert {tag for tag, _ in page.tags} <= TAGS
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    for one in ("\x1b", "\u202e", "\x07"):
        assert one not in html
        assert one not in markdown
    assert "<script" not in markdown
