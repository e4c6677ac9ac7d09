"""Curves in a report: well-formed, told apart without colour, in words for who can't see them, and text stays text."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchbook.training import MetricPoint
from benchbook.training.curves import Curve
from benchbook.views.curves import CURVES_CSS, MOST_CURVES, curves_figure
from benchbook.views.markup import DARK, LIGHT
from views.contrast import PAIRS


def curve(*values: float | None, first_step: int = 0) -> Curve:
    points = [
        MetricPoint(name="loss", step=step, value=value, tokens=step * 1000, time_s=float(step))
        for step, value in enumerate(values, start=first_step)
    ]
    return Curve("loss", tuple(points))


def parsed(html: str) -> ET.Element:
    return ET.fromstring(html)


def words(html: str) -> str:
    return " ".join(" ".join(parsed(html).itertext()).split())


def test_curves_over_one_another() -> None:
    html = curves_figure({"first": curve(4.0, 2.0, 1.0), "second": curve(3.0, 2.5)})
    paths = [path.get("d") for path in parsed(html).iter("path")]
    # 0 to 2 across, 1 to 4 upwards, on a grid of 1000: 2.0 is a third of the way up.
    assert paths == ["M0.0,0.0 L500.0,666.7 L1000.0,1000.0", "M0.0,333.3 L500.0,500.0"]
    assert [path.get("class") for path in parsed(html).iter("path")] == ["curve curve-0", "curve curve-1"]
    (picture,) = (svg for svg in parsed(html).iter("svg") if svg.get("role") == "img")
    assert picture.get("aria-labelledby") == "curves-title"
    description = "".join(picture.find("desc").itertext())  # type: ignore[union-attr]
    assert description == (
        "first: 4 at step 0, lowest 1 at 2, last 1 at 2. second: 3 at step 0, lowest 2.5 at 1, last 2.5 at 1."
    )
    assert [item.get("class") for item in parsed(html).iter("ul")] == ["curve-legend"]
    assert ["".join(item.itertext()).strip() for item in parsed(html).iter("li")] == ["first", "second"]
    cells = [["".join(cell.itertext()) for cell in row] for row in parsed(html).iter("tr")]
    assert cells == [
        ["Run", "Points", "First", "Step", "Lowest", "Step", "Last", "Step"],
        ["first", "3", "4", "0", "1", "2", "1", "2"],
        ["second", "2", "3", "0", "2.5", "1", "2.5", "1"],
    ]


def test_a_run_without_metrics_is_said_and_not_drawn() -> None:
    html = curves_figure({"a": curve(1.0, 2.0), "b": None, "c": Curve("loss", ())})
    assert "b: not drawn, its trainer logged none. c: not drawn, its trainer logged none." in words(html)
    html = curves_figure({"b": curve(None)})
    assert words(html) == (
        "loss by step "
        "b: not drawn, every value that was logged is NaN or infinite. "
        "No run has a curve of loss, so there is nothing to draw."
    )
    assert not list(parsed(html).iter("svg"))
    assert words(curves_figure({})) == "loss by step No run has a curve of loss, so there is nothing to draw."


def test_gaps_and_single_values() -> None:
    html = curves_figure({"a": curve(4.0, 3.0, None, 2.0, None, 1.0, 1.5)})
    assert [path.get("d") for path in parsed(html).iter("path")] == [
        "M0.0,0.0 L166.7,333.3 M833.3,1000.0 L1000.0,833.3"
    ]
    assert len(list(parsed(html).iter("circle"))) == 1
    assert "a: 2 values logged as NaN or infinite; the line has gaps there." in words(html)
    html = curves_figure({"m44": curve(0.857, first_step=414)})
    assert len(list(parsed(html).iter("circle"))) == 1
    assert "m44: 0.857 at step 414, lowest 0.857 at 414, last 0.857 at 414." in words(html)


def test_what_was_trained_again_is_thin_and_said() -> None:
    again = (MetricPoint(name="loss", step=1, value=9.0), MetricPoint(name="loss", step=2, value=8.0))
    html = curves_figure({"a": Curve("loss", curve(3.0, 2.0, 1.0).points, (again,))})
    assert [path.get("class") for path in parsed(html).iter("path")] == ["curve again curve-0", "curve curve-0"]
    assert "a: trained again 1 time from step 1 on" in words(html)


def test_long_curves_are_thinned_and_too_many_are_named() -> None:
    html = curves_figure(
        {f"run {n}": curve(*(float(step % 7) for step in range(5000))) for n in range(MOST_CURVES + 2)}
    )
    assert len(list(parsed(html).iter("path"))) == MOST_CURVES
    assert all((path.get("d") or "").count("L") < 600 for path in parsed(html).iter("path"))
    assert f"2 further runs not drawn: run {MOST_CURVES}, run {MOST_CURVES + 1}." in words(html)


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", '"><img src=x onerror=y>', "a\u202eb", "a\nb", "\ud800"]
)
def test_a_hostile_name_stays_text(hostile: str) -> None:
    html = curves_figure({hostile: curve(1.0, 2.0), f"{hostile}2": None})
    assert {element.tag for element in parsed(html).iter()} <= {
        *(
            "figure",
            "figcaption",
            "h3",
            "svg",
            "title",
            "desc",
            "line",
            "path",
            "text",
            "circle",
            "ul",
            "li",
            "bdi",
            "p",
        ),
        *("div", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    }
    assert "\u202e" not in html
    assert {element.get("id") for element in parsed(html).iter()} == {None, "curves-title", "curves-desc"}


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(st.text(max_size=5), st.lists(st.none() | finite, max_size=12), max_size=4))
@example({"nan": [], "inf": [1.0]})
def test_every_curve_has_a_picture_within_its_frame(made: dict[str, list[float | None]]) -> None:
    html = curves_figure({name: curve(*values) for name, values in made.items()})
    for path in parsed(html).iter("path"):
        places = [float(number) for number in re.findall(r"-?[0-9.]+", path.get("d") or "")]
        assert all(0 <= place <= 1000 for place in places)
    assert "nan" not in html.replace("NaN", "") or any("nan" in name for name in made)
    assert "inf" not in html.replace("infinite", "").replace("infinity", "") or any("inf" in name for name in made)


def test_the_largest_numbers() -> None:
    big = sys.float_info.max
    html = curves_figure({"a": curve(-big, big, 0.0)})
    assert [path.get("d") for path in parsed(html).iter("path")] == ["M0.0,1000.0 L500.0,0.0 L1000.0,500.0"]


def test_colours_come_from_the_palette_and_dashes_tell_apart_too() -> None:
    strokes = re.findall(r"\.curve-(\d+)\{stroke:var\(--([a-z]+)\);stroke-dasharray:([^}]+)\}", CURVES_CSS)
    assert len(strokes) == MOST_CURVES
    contrast_3 = {name for name, ground, least in PAIRS if ground in ("paper", "panel") and least >= 3}
    assert {colour for _, colour, _ in strokes} <= set(LIGHT) & set(DARK) & contrast_3
    looks = [(colour, dash) for _, colour, dash in strokes]
    assert all(a != b for a, b in combinations(looks, 2))
    assert len({dash for _, _, dash in strokes[:5]}) == 5
