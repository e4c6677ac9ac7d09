"""What holds on every page, on a phone, a tablet and a screen, in light and dark. A new page has its line in PAGES."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

from ui.test_pages import violations

expect.set_options(timeout=30_000)  # other tests may have the processor
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]

# A page's address, and what is there once all has come: a heading, or one of the elements that a selector finds.
PAGES = {
    "runs": ("/", "text=many-a"),
    "nowhere": ("/nowhere/at/all", "text=There is no such page"),
    "login": ("/login", "text=No login is needed"),
    "run": ("/runs/judged?sample=0&at=0", ".item-panel .model-text"),
    "run of a panel": ("/runs/panel", ".samples .vrow:not(.waiting)"),
    "run of a rubric of one's own": ("/runs/talked?sample=0&at=0", ".item-panel .model-text"),
    "run of predictions": ("/runs/base?sample=5&at=5", ".item-panel .model-text"),
    "experiment": ("/runs/experiment", "text=Judges of this experiment"),
    "compare": ("/compare?run=base&run=tuned&at=1&item=1", ".item-panel .model-text"),
    "compare three": ("/compare?run=base&run=tuned&run=third", ".items .vrow:not(.waiting)"),
    "nothing to compare": ("/compare", "text=Choose runs to compare"),
    "judges": ("/judges?run=experiment&evaluation=9&at=9", ".item-panel .model-text"),
    "judges by their own protocol": ("/judges?run=shop&evaluation=0&at=0", ".item-panel .model-text"),
    "audits": ("/audits", "text=tried"),
    "pairs": ("/pairs", "text=compared"),
    "runs in pairs": ("/pairs?pairs=compared", "text=Rankings go by"),
    "an audit": ("/audits?audit=tried", "text=What should change nothing"),
    "label": ("/label", "text=Settle"),
    "queue": ("/label?labels=labels&labeller=ann", "text=Answer to label"),
    "settle": ("/label?labels=people&labeller=ida&view=settle", "text=Answer to label"),
    "results": ("/label?labels=people&view=results", "text=What the judge is worth"),
    "leaderboard": ("/leaderboard", "text=third-model"),
}
MOST_SHIFT = 0.1  # what a page may move while it comes; the Web Vitals call more than that in need of improvement

SHIFT = """() => new Promise((resolve) => {
  let all = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) all += one.value;
  }).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(all)));
})"""

# Whatever takes a click has to take the focus, or to stand within what does (the rows of a grid are its own), or to be
# a row whose button does the same.
BY_MOUSE_ALONE = """() => {
  const shown = (one) => one.checkVisibility({ visibilityProperty: true });
  const takesFocus = "a[href], button, input, select, textarea, summary, label, [role=grid], [tabindex='0'], :disabled";
  return [...document.querySelectorAll("body *")]
    .filter((one) => getComputedStyle(one).cursor === "pointer" && shown(one) && one.closest(takesFocus) === null)
    .filter((one) => one.closest("[role=row]")?.querySelector("a[href], button") == null)
    .map((one) => one.outerHTML.slice(0, 150));
}"""

# After a key was pressed, the focus is shown wherever it goes: by an outline that is thick enough.
WITHOUT_A_RING = """() => {
  const takesFocus = "a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex]";
  const found = [];
  for (const one of document.querySelectorAll(takesFocus)) {
    if (one.tabIndex < 0 || !one.checkVisibility({ visibilityProperty: true })) continue;
    one.focus({ preventScroll: true });
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const ringed = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    if (document.activeElement !== one || !ringed) found.push(one.outerHTML.slice(0, 150));
  }
  return found;
}"""


def opened(open_page: Open, name: str, **look: Any) -> Any:
    """The page once everything has come that it asks for."""
    path, sign = PAGES[name]
    page = open_page(path, faulty=name == "nowhere", **look)  # that there is no such page is in the console
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(sign).locator("visible=true").first).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)
    page.wait_for_load_state("networkidle" if name != "runs" else "load")
    return page


def is_clean(page: Any) -> None:
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in violations(page)] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits_stands_still_and_is_had_by_keyboard(open_page: Open, name: str) -> None:
    for look in ({"width": 390, "dark": True}, {"width": 1024}, {"width": 1440}):
        page = opened(open_page, name, **look)
        assert page.evaluate(SHIFT) < MOST_SHIFT, look
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), look
        if look["width"] != 1024:
            is_clean(page)
        if look["width"] != 390:
            page.keyboard.press("Tab")
            assert (page.evaluate(BY_MOUSE_ALONE), page.evaluate(WITHOUT_A_RING)) == ([], []), look
