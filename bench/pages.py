"""What a person waits for on the page that compares runs, in Chromium.

    script/bench pages [--items N] [--steps N] [--rounds N] [--json]

Two runs of 1,000,000 items: from opening the link to the first rows on the screen, on a server that has just started
(`cold`; goal: 1 s) and on one that knows the runs (`warm`; goal: 500 ms). Then each filter, from the choice to its
first rows (goal: 200 ms, typed text too), and scrolling: the longest time for which a row in the window was blank
(goal: 100 ms). Eight runs with loss curves of 100,000 steps: from opening the link, and from the first question for a
curve, to the chart (goal for the latter: 500 ms). Medians of the rounds, but the longest of blanks. `slowdown`: how
many times longer than its CPU time a loop takes that only computes, meanwhile; on a quiet machine 1. Times are to be
read with it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import Browser, Page, sync_playwright

from benchbook.evaluators.correctness.rows import AskedCorrectnessRow
from benchbook.record.tables import ROW_GROUP, table_schema, write_row_groups
from benchbook.training.curves import TRAINING_TABLE, TrainingMetricRow
from measuring import show
from server import serving, write_record

GOALS_MS = {"rows_cold": 1_000, "rows_warm": 500, "filter": 200, "blank": 100, "loss": 500}
N_CURVES = 8
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")

# Notes when the first row and the chart are there: at the frame after the one that has them.
_WATCH = """
window.seen = {};
const look = () => {
  const there = { rows: '.vrow:not(.waiting)', loss: '.plot canvas' };
  for (const [name, selector] of Object.entries(there)) {
    if (!(name in seen) && document.querySelector(selector)) {
      seen[name] = null;
      requestAnimationFrame(() => { seen[name] = performance.now(); });
    }
  }
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
_WAIT = """
async (name) => {
  while (!(seen[name] > 0)) {
    if (performance.now() > 60_000) throw new Error(`not there: ${name}`);
    await new Promise(requestAnimationFrame);
  }
  return seen[name];
}
"""
# From an act to the first rows of another list.
_FILTERED = """
async ([selector, value]) => {
  const before = document.querySelector('.vrows');
  const found = [...document.querySelectorAll(selector)];
  const element = found.find((one) => one.tagName !== 'BUTTON' || one.textContent.includes(value));
  const began = performance.now();
  if (element.tagName === 'BUTTON') element.click();
  else {
    const owner = element.tagName === 'SELECT' ? HTMLSelectElement : HTMLInputElement;
    Object.getOwnPropertyDescriptor(owner.prototype, 'value').set.call(element, value);
    element.dispatchEvent(new Event(element.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
  }
  for (;;) {
    await new Promise(requestAnimationFrame);
    const now = document.querySelector('.vrows');
    const took = performance.now() - began;
    if (now !== null && now !== before && now.querySelector('.vrow:not(.waiting)')) return took;
    if (took > 30_000) throw new Error(`no rows: ${value}`);
  }
}
"""
# The longest time for which a row in the window was blank: moving on at each frame, or jumping twice a second.
_SCROLLED = """
async ([frames, jumps]) => {
  const box = document.querySelector('.vrows');
  const blank = () => {
    const { top, bottom } = box.getBoundingClientRect();
    return [...box.querySelectorAll('.vrow.waiting')].some((row) => {
      const one = row.getBoundingClientRect();
      return one.bottom > top + 32 && one.top < bottom;
    });
  };
  let longest = 0, since = null, random = 7;
  for (let frame = 0; frame < frames; frame++) {
    if (!jumps) box.scrollTop += 600;
    else if (frame % 30 === 0) {
      random = (random * 16807) % 2147483647;
      box.scrollTop = (random / 2147483647) * box.scrollHeight;
    }
    const now = await new Promise(requestAnimationFrame);
    if (blank()) { since ??= now; longest = Math.max(longest, now - since); } else since = null;
  }
  return longest;
}
"""
# What is chosen, in turn: a selector, and the button's text or the field's value.
_FORM = 'form[aria-label="Items"]'
_FILTERS = {
    "class": (".class-buttons button", "Regressed"),
    "all": (".class-buttons button", "All"),
    "section": (f"{_FORM} select", "edge_case"),
    "text": (f"{_FORM} input", "777775"),
    "order": (f"{_FORM} .field:last-of-type select", "change"),
}


def write_run(runs: Path, run_id: str, right: np.ndarray) -> None:
    """A run of arithmetic; half of what is wrong has the answer inside."""
    sample = pl.int_range(right.size, eager=True).alias("sample").to_frame().with_columns(right=pl.Series(right))
    inside = ~pl.col("right") & (pl.col("sample") % 2 == 0)
    answer = (pl.col("sample") + 1).cast(pl.String)
    columns = {name: pl.lit(None) for name in AskedCorrectnessRow.__struct_fields__} | {
        "sample": pl.col("sample"),
        "item_id": pl.format("item-{}", "sample"),
        "repeat": pl.lit(0),
        "section": pl.when(pl.col("sample") % 5 == 0).then(pl.lit("edge_case")).otherwise(pl.lit("core")),
        "category": pl.format("category {}", pl.col("sample") % 10),
        "difficulty": pl.format("difficulty {}", pl.col("sample") % 3),
        "prompt": pl.format("What is {} plus one? Answer with the number alone.", "sample"),
        "expected": answer,
        "predicted": pl.when("right").then(answer).when(inside).then(pl.format("It is {}, I think.", answer)).otherwise(
            pl.lit("I do not know.")
        ),
        "correctness": pl.col("right").cast(pl.Float64),
        "miss_reason": pl.when("right").then(None).when(inside).then(pl.lit("expected_inside_longer_text")).otherwise(
            pl.lit("different")
        ),
    }  # fmt: skip
    schema = table_schema(AskedCorrectnessRow)
    table = sample.select(**columns).cast(schema)

    def write(path: Path) -> None:
        write_row_groups(path, schema, table.iter_slices(ROW_GROUP))

    write_record(runs, run_id, right.size, write)


def write_losses(record: Path, n_steps: int, seed: int) -> None:
    """A loss that falls, with noise, a spike, and a value that is not finite."""
    step = np.arange(n_steps)
    noise = np.random.default_rng(seed).normal(0, 0.05, n_steps)
    value = 2.5 / (1 + step / 5_000) + noise + (step == n_steps // 2) * 3
    frame = pl.DataFrame({"step": step, "value": value}).select(
        source=pl.lit("log"),
        name=pl.lit("loss"),
        step="step",
        tokens=pl.col("step") * 4_096,
        time_s=pl.col("step") * 0.5,
        value=pl.when(pl.col("step") == n_steps // 3).then(None).otherwise("value"),
        segment=pl.lit(0),
        line=pl.col("step") + 1,
    )
    schema = table_schema(TrainingMetricRow)
    write_row_groups(record / TRAINING_TABLE, schema, frame.cast(schema).iter_slices(ROW_GROUP))


def opened(browser: Browser, address: str, runs: list[str], what: str) -> tuple[Page, float]:
    """A page that compares the runs, and when `what` was on it: milliseconds from opening the link."""
    page = browser.new_page(viewport={"width": 1360, "height": 900})
    page.set_default_timeout(60_000)
    page.add_init_script(_WATCH)
    page.goto(f"{address}/compare?" + "&".join(f"run={run}" for run in runs), wait_until="domcontentloaded")
    return page, page.evaluate(_WAIT, what)


def slowdown() -> float:
    began, cpu = time.perf_counter(), time.process_time()
    while time.process_time() - cpu < 0.3:
        pass
    return (time.perf_counter() - began) / (time.process_time() - cpu)


def one_round(browser: Browser, folder: Path) -> dict[str, float]:
    found: dict[str, float] = {"slowdown": slowdown()}
    with serving(folder) as (port, _):
        address = f"http://127.0.0.1:{port}"
        page, found["rows_cold_ms"] = opened(browser, address, ["a", "b"], "rows")
        page.wait_for_selector(".difference")
        page.close()
        page, found["rows_warm_ms"] = opened(browser, address, ["a", "b"], "rows")
        page.wait_for_selector(".difference")
        found["blank_scrolling_ms"] = page.evaluate(_SCROLLED, [240, False])
        found["blank_jumping_ms"] = page.evaluate(_SCROLLED, [300, True])
        for name, act in _FILTERS.items():
            found[f"filter_{name}_ms"] = page.evaluate(_FILTERED, list(act))
        page.close()
    with serving(folder) as (port, _):
        address = f"http://127.0.0.1:{port}"
        for name in ("cold", "warm"):
            page, found[f"loss_link_{name}_ms"] = opened(
                browser, address, [f"loss-{n}" for n in range(N_CURVES)], "loss"
            )
            asked = page.evaluate(
                "Math.min(...performance.getEntriesByType('resource')"
                ".filter((one) => one.name.includes('training-metrics')).map((one) => one.startTime))"
            )
            found[f"loss_{name}_ms"] = found[f"loss_link_{name}_ms"] - asked
            page.close()
    return found


def measure(options: argparse.Namespace) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory(prefix="benchbook-bench-") as name:
        folder = Path(name)
        (folder / "runs").mkdir()
        for run_id in "ab":
            write_run(folder / "runs", run_id, rng.random(options.items) < 0.6)
        for number in range(N_CURVES):
            write_run(folder / "runs", f"loss-{number}", rng.random(1_000) < 0.6)
            write_losses(folder / "runs" / f"loss-{number}", options.steps, number)
        with serving(folder), sync_playwright() as playwright:  # the catalog is made
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
            rounds = [one_round(browser, folder) for _ in range(options.rounds)]
            browser.close()
    found = {
        name: round((max if "blank" in name else statistics.median)(one[name] for one in rounds), 1)
        for name in rounds[0]
    }
    return {
        "items": options.items,
        "steps": options.steps,
        "rounds": options.rounds,
        **found,
        "within_goal": all(value <= goal_of(name) for name, value in found.items()),
        "load_average": round(os.getloadavg()[0], 2),
    }


def goal_of(name: str) -> float:
    if name.startswith(("loss_link", "slowdown")):
        return float("inf")
    return next(goal for start, goal in GOALS_MS.items() if name.startswith(start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options)
    show(result, as_json=options.json)
    sys.exit(0 if result["within_goal"] else 1)


if __name__ == "__main__":
    main()
