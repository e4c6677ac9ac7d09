"""The manual's table of mistakes is what Benchbook says of them."""

from __future__ import annotations

from pathlib import Path

from mistakes import MISTAKES, PAGE, make_folder, page


def test_each_mistake_is_answered_as_the_manual_says(tmp_path: Path) -> None:
    make_folder(tmp_path)
    assert "\n".join(page(tmp_path)) + "\n" == PAGE.read_text(encoding="utf-8")
    assert len(MISTAKES) >= 25
