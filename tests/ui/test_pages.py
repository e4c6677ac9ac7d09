"""The page in Chromium, against a real server over real records."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from benchbook.text import visible
from benchbook.views.verdicts import RANK_WORDS
from talked import MARKUP
from ui.making import HOSTILE, N_ITEMS, N_MANY

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import expect

expect.set_options(timeout=30_000)  # other tests may have the processor
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

Open = Callable[..., Any]


def says(page: Any, **values: list[str] | re.Pattern[str]) -> None:
    """The address comes to say so: the browser tells of it when it has the time, which may be after what is drawn."""

    def found(address: str) -> bool:
        query = parse_qs(urlsplit(address).query)
        return all(
            query.get(name) == value
            if isinstance(value, list)
            else value.fullmatch(query.get(name, [""])[0]) is not None
            for name, value in values.items()
        )

    page.wait_for_url(found, wait_until="commit")


def rows(page: Any, label: str = "Items") -> Any:
    return page.get_by_role("grid", name=label, exact=True).locator(".vrow:not(.waiting)")


def shows_in_order(place: Any, *texts: str) -> None:
    """The place comes to show the texts, each after the one before it and none of them earlier.

    It is looked at again until it does: parts of a page come when their answers do, and what is there may not show yet.
    """
    none = [f"(?:(?!{'|'.join(map(re.escape, texts[n:]))}).)*" for n in range(len(texts))]
    order = "".join(before + re.escape(text) for before, text in zip(none, texts, strict=True))
    expect(place).to_contain_text(re.compile(f"^{order}", re.DOTALL), use_inner_text=True)


def violations(page: Any) -> Any:
    """What axe finds once the page shows itself. Its package opens its own script without naming an encoding."""
    expect(page.locator("html.arriving")).to_have_count(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EncodingWarning)
        from axe_playwright_python.sync_playwright import Axe

        return Axe().run(page).response["violations"]


def test_two_runs_are_chosen_and_compared(open_page: Open) -> None:
    page = open_page("/")
    page.get_by_label("Compare base").check()
    page.get_by_label("Compare tuned").check()
    says(page, pick=["base", "tuned"])
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(page.get_by_text(f"{N_ITEMS} items compared.")).to_be_visible()
    says(page, run=["base", "tuned"])
    page.go_back()
    expect(page.get_by_label("Compare tuned")).to_be_checked()


def test_runs_are_searched_filtered_sorted_and_tagged(open_page: Open) -> None:
    page = open_page("/?text=tuned")
    table = rows(page, "Runs")
    expect(table).to_have_count(1)
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Evaluator").select_option("rubric@v1")
    expect(table).to_have_count(3)
    expect(table.first).to_contain_text("Inconclusive")
    page.get_by_role("link", name="judged", exact=True).click()
    page.get_by_label("New tag").fill("<b>night</b>")
    page.get_by_label("New tag").press("Enter")
    expect(page.locator(".tag")).to_have_text("<b>night</b>")
    page.goto("/?tag=%3Cb%3Enight%3C%2Fb%3E")
    expect(table).to_have_count(1)
    page.goto("/?spec=answer_correctness@v1&sort=score&order=desc")
    expect(table.first).to_contain_text("third")


def test_a_comparison_by_keyboard_alone(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned")
    expect(rows(page).first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    panel = page.get_by_label("Item", exact=True)
    expect(panel).to_contain_text("item-001")
    says(page, item=["1"])
    page.keyboard.press("j")
    expect(panel).to_contain_text("item-002")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    page.keyboard.press("End")  # the list has the keyboard again
    expect(page.locator(".vrow.chosen")).to_contain_text(f"item-{N_ITEMS - 1:03d}")
    page.keyboard.press("/")
    # On a busy machine a pause in the typing finds items of its own: "fit" may be said of "by tun".
    with page.expect_response(lambda answer: parse_qs(urlsplit(answer.url).query).get("text") == ["by tuned"]):
        page.keyboard.type("by tuned")
    expect(page.get_by_role("status").filter(has_text="fit")).to_be_visible()
    says(page, text=["by tuned"])
    # Tab alone leads to the pictures, and past their bars, however many of them there are by then.
    skip = page.get_by_role("button", name="Skip to the list")
    for _ in range(40):
        page.keyboard.press("Tab")
        if skip.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("grid", name="Items")).to_be_focused()
    page.keyboard.press("ArrowDown")
    says(page, at=["0"])


def test_items_by_class_and_slice_have_addresses(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=third&class=same_wrong")
    expect(rows(page).first).to_contain_text("same, wrong")
    button = page.get_by_role("group", name="Class").get_by_role("button", name="Same, wrong")
    expect(button).to_contain_text(re.compile(r"\d"))
    expect(button).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Section").select_option("core")
    expect(page.get_by_role("status").filter(has_text=re.compile(r"^\d+ fit$"))).to_be_visible()
    says(page, section=["core"])
    address = page.url
    again = open_page(address)
    expect(again.get_by_label("Section", exact=True)).to_have_value("core")
    expect(rows(again).first).to_contain_text("core")


def test_what_is_shown_is_what_is_exported(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned&class=regressed")
    expect(rows(page).first).to_be_visible()
    n = rows(page).count()
    with page.expect_download() as download:
        page.get_by_role("link", name="NDJSON").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == n


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_model_text_is_only_text(open_page: Open, place: int) -> None:
    page = open_page(f"/compare?run=base&run=tuned&at={place}&item={place}")
    shown = page.get_by_label("Answer of B")
    expect(shown).to_be_visible()
    wanted = visible(f"tuned {HOSTILE[place]}")
    text = shown.inner_text()
    assert text == wanted if len(wanted) < 1_000 else text.startswith("tuned long long")
    assert shown.locator(":not(ins, span, mark)").count() == 0


def test_a_difference_is_marked_by_word(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned&at=20&item=20")
    expect(page.get_by_label("Answer of A").locator("del")).to_have_text(["base"])
    expect(page.get_by_label("Answer of B").locator("ins")).to_have_text(["tuned"])


def test_loss_curves_say_what_is_missing(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned&run=third&smooth=0.5")
    expect(page.locator(".plot canvas")).to_be_visible()
    said = page.locator(".said")
    expect(said).to_contain_text("third logged no loss")
    expect(said).to_contain_text("without a finite value")
    page.get_by_role("button", name="Zoom in").click()
    says(page, zoom=re.compile("[^~]*~[^~]*"))
    page.get_by_label("Along").select_option("tokens")
    expect(page.locator(".plot")).to_have_attribute("aria-label", re.compile("Loss by tokens"))
    page.get_by_label("Along").select_option("time")
    expect(said).to_contain_text("base logged its loss without times")


def test_three_runs_have_histories(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned&run=third&b=2")
    expect(page.get_by_text("C − A").first).to_be_visible()
    page.get_by_role("button", name=re.compile("^Learned")).click()
    expect(rows(page, "Items over the runs").first).to_contain_text("Learned")
    says(page, history=["learned"])
    page.get_by_role("button", name="Take B away").click()
    expect(page.get_by_role("table", name="Runs by Score").get_by_role("row")).to_have_count(3)  # two, and the head


def test_a_run_shows_gates_samples_and_that_it_holds(open_page: Open) -> None:
    page = open_page("/runs/judged")
    expect(page.get_by_role("img", name=re.compile("Pass rate: .* asked for at least 85"))).to_be_visible()
    expect(page.get_by_label("Decision", exact=True)).to_contain_text(
        "Pass rate is 66.7 %, and 99.8 % at best at 98.75 % confidence; the gate asks for at least 85 %"
    )
    expect(page.get_by_text("95 % interval, n = ").first).to_be_visible()
    rows(page, "Samples").nth(4).click()
    panel = page.get_by_label("Sample", exact=True)
    expect(panel.get_by_text("No scores from me.").first).to_be_attached()
    expect(panel).to_contain_text("attempt 2")
    page.get_by_role("button", name="Verify this record").click()
    expect(page.get_by_text("Every byte holds")).to_be_visible()


def test_a_gate_that_is_not_shown_to_hold_is_said_as_the_report_says_it(open_page: Open) -> None:
    page = open_page("/runs/judged")
    latency = page.locator(".gate").filter(has_text="Latency end to end, p95")
    expect(latency.locator(".state")).to_have_text("?Holds, by its value; it is not shown")
    expect(latency.locator(".tone-doubt")).to_have_count(1)
    page.get_by_text("The gates as a table").click()
    table = page.get_by_role("region", name="The gates")
    expect(table.get_by_role("columnheader", name="Bound in the worst case")).to_be_visible()
    expect(table.get_by_role("row").nth(2)).to_contain_text("27.1 %")


def test_a_run_whose_items_name_no_section_has_no_slices(open_page: Open) -> None:
    page = open_page("/runs/many-a")
    expect(page.get_by_label("Score", exact=True)).to_contain_text("8,000 of 12,000 items correct")
    expect(rows(page, "Samples").first).to_be_visible()
    expect(page.get_by_role("heading", name="Slices")).to_have_count(0)


def test_what_kept_a_run_without_answers_stands_before_any_number(open_page: Open) -> None:
    page = open_page("/runs/refused")
    shows_in_order(page.get_by_role("article"), "no such key <img src=x", "--model-api-key-env", "Score")
    page = open_page("/judges?run=judge-refused")
    shows_in_order(page.get_by_role("main"), "no such key", "0 valid")
    expect(page.get_by_role("main")).to_contain_text("resuming the run asks for it again")


def test_a_run_that_was_stopped_is_told_before_a_comparison_with_it(open_page: Open) -> None:
    page = open_page("/compare?run=judged&run=refused")
    shows_in_order(page.get_by_role("main"), "Run refused is not complete: it is interrupted.", "compared")


def test_evidence_stands_in_the_judged_text(open_page: Open) -> None:
    page = open_page("/judges?run=experiment")
    page.get_by_label("Validity").select_option("false")
    rows(page, "Evaluations").first.click()
    panel = page.get_by_label("Evaluation", exact=True)
    expect(panel.locator("mark").first).to_contain_text("# Answer 1")
    expect(panel.locator(".quotes .found")).to_have_count(3)
    expect(panel.locator(".quotes .lost")).to_contain_text("nobody wrote this <b>here</b>")
    page.get_by_role("button", name=re.compile("Evaluations of m, base")).click()
    says(page, target=["m"], variant=["base"])


def test_a_sample_says_what_its_judge_said_of_it(open_page: Open) -> None:
    page = open_page("/runs/talked?sample=0&at=0")
    panel = page.get_by_label("Sample", exact=True)
    expect(panel.get_by_label("Turn 1").locator("mark")).to_have_text("📦 parcel1")
    expect(panel.get_by_label("Turn 1")).to_contain_text(MARKUP)
    expect(panel.locator("h4").filter(has_text="tool, result of c1")).to_have_text("3 tool, result of c1")
    criteria = panel.locator(".criteria > div")
    expect(criteria.locator(".outcome")).to_have_text(["cold", "does not apply", "1", "0.1250"])
    expect(criteria.nth(0).locator(".found")).to_contain_text("✓ stands in turn 1, characters 13 to 20")
    expect(criteria.nth(2).locator(".lost")).to_contain_text("nobody <b onclick='window.ran = 3'>said</b> this")
    expect(criteria.nth(2).locator(".lost")).to_contain_text("✕ it does not stand in the answer")
    expect(panel.locator(".met-list li").nth(2)).to_contain_text("met, weight -4, takes away 4 of 8: It does.")
    panel.get_by_text("As people and judges read it").click()
    expect(panel.get_by_label("Prompt")).to_contain_text("[3] tool, result of c1:")
    expect(panel.get_by_role("row").filter(has_text="Cost")).to_contain_text("$0.00108")
    expect(panel.locator("img, script, b")).to_have_count(0)
    page.keyboard.press("j")
    expect(panel.get_by_text("As people and judges read it")).to_have_count(0)  # its prompt is its first turn
    expect(panel.get_by_label("Answer").locator("mark")).to_have_text(["We do1,2", "dear Ann1"])


def test_judges_by_a_protocol_of_ones_own_have_its_dimensions_and_points(open_page: Open) -> None:
    page = open_page("/runs/shop")
    page.get_by_role("link", name="Judges of this experiment").click()
    expect(page.get_by_label("Experiment").locator("option:checked")).to_have_text("shop · shop@v2, 8 evaluations")
    main = page.get_by_role("main")
    expect(main).to_contain_text("Mean overall score by judges that judge others, 1 to 6")
    expect(main).to_contain_text("points (of 5) away from the other judges, at most 0.625")
    rows(page, "Evaluations").filter(has_text="PASS").first.click()
    dimensions = page.get_by_label("Evaluation", exact=True).locator(".dimensions div")
    expect(dimensions).to_have_text(["Right5 of 5", "Kind1 of 1", "Overall6 of 6"])


def test_verifying_says_what_can_not_be_computed_again(open_page: Open) -> None:
    page = open_page("/runs/scored")
    page.get_by_role("button", name="Verify this record").click()
    said = page.locator(".verified")
    expect(said).to_contain_text("Every byte holds")
    expect(said).to_contain_text("4 outcomes of near@v1 can't be computed again")


def test_a_leaderboard_has_ranks_with_intervals(open_page: Open) -> None:
    page = open_page("/leaderboard")
    expect(rows(page, "Leaderboard")).to_have_count(3)
    expect(rows(page, "Leaderboard").first).to_contain_text("third-model")
    expect(rows(page, "Leaderboard").first).to_contain_text(RANK_WORDS["best"])
    expect(page.get_by_role("region", name="Ranks")).to_contain_text("Better than all others here: third.")
    expect(page.get_by_role("region", name="Curve over checkpoints")).to_be_visible()


def test_runs_of_a_leaderboard_are_searched_put_in_order_and_compared_by_keyboard(open_page: Open) -> None:
    page = open_page("/leaderboard?order=worst")
    expect(rows(page, "Leaderboard").first).to_contain_text("base-model")
    page.keyboard.press("/")
    page.keyboard.type("ED")
    expect(rows(page, "Leaderboard")).to_have_count(1)
    expect(rows(page, "Leaderboard").first).to_contain_text("tuned-model")
    page.goto(page.url.replace("text=ED", ""))
    expect(rows(page, "Leaderboard")).to_have_count(3)
    page.get_by_role("grid", name="Leaderboard").focus()
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(page).to_have_url(re.compile(r"/compare\?run=base&run=tuned$"))


def test_a_long_list_ends_where_it_ends(open_page: Open) -> None:
    page = open_page("/compare?run=many-a&run=many-b")
    expect(rows(page).first).to_contain_text("m00000")
    page.get_by_role("grid", name="Items").focus()
    page.keyboard.press("End")
    expect(page.locator(".vrow.chosen")).to_contain_text(f"m{N_MANY - 1:05d}")
    assert page.locator(".vrow").count() < 100
    page.keyboard.press("Home")
    expect(page.locator(".vrow.chosen")).to_contain_text("m00000")
    page.goto(f"/compare?run=many-a&run=many-b&at={N_MANY // 2}")
    expect(page.locator(".vrow.chosen")).to_contain_text(f"m{N_MANY // 2:05d}")


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/runs/nobody", "There is no such run"),
        ("/runs/..%2F..%2Fetc%2Fpasswd", "There is no such run"),
        ("/compare?run=base&run=nobody", "There is no such comparison"),
        ("/compare?run=base&run=judged", "comparison can't be shown"),
        ("/compare?run=base", "Choose runs to compare"),
        ("/runs/base?sample=99999", "There is no such sample"),
        ("/label?labels=nothing&labeller=x", "There is no such queue"),
        ("/label?labels=nothing&labeller=x&view=settle", "There is no such list of disputes"),
        ("/label?labels=nothing&view=results", "There is no such set of labels"),
        ("/compare/nowhere", "There is no such page"),
    ],
)
def test_what_is_not_there_is_said(open_page: Open, path: str, wanted: str) -> None:
    page = open_page(path, faulty=True)
    expect(page.get_by_text(wanted).first).to_be_visible()


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/", "No runs yet"),
        ("/judges", "No experiment with judges yet"),
        ("/label", "Nothing to label"),
        ("/leaderboard", "Nothing to rank yet"),
        ("/login", "No login is needed"),
    ],
)
def test_an_empty_folder_says_how_to_begin(open_page: Open, empty_server: str, path: str, wanted: str) -> None:
    expect(open_page(path, at=empty_server).get_by_text(wanted)).to_be_visible()


def test_a_server_that_went_away_is_said(open_page: Open) -> None:
    page = open_page("/compare?run=base&run=tuned", faulty=True)
    expect(rows(page).first).to_be_visible()
    expect(page.get_by_label("Why it missed").get_by_role("option", name="another answer")).to_be_attached()
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_label("Why it missed").select_option("different")
    expect(page.get_by_text("The server does not answer").first).to_be_visible()  # and in the bar, if it lasts
    page.unroute("**/api/**")
    again = page.get_by_role("button", name="Try again")
    again.evaluate_all("buttons => buttons.forEach((button) => button.click())")  # none where it came by itself
    expect(rows(page).first).to_be_visible()
