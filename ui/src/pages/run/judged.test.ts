import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { CriterionWords, JudgedWords, QuoteWords } from "../../api/types";
import { Judged, quotesOf, spansIn, Turns } from "./judged";

const quote = (turn: number | null, start: number, found = true): QuoteWords => ({ quote: "<b>q</b>", found, words: found ? "stands" : "it does not stand in the answer", turn, spans: found ? [{ start, end: start + 2 }] : [] });
const criterion = (title: string, given: string, one: QuoteWords | null): CriterionWords => ({ title, question: "", scale: "0 to 1; any passes; weight 1", given, tone: "none", quote: one });
const HOSTILE = "<script>window.ran = 1</script> \u202eturned";
const judged: JudgedWords = {
  criteria: [criterion("Tone", "kind", quote(2, 0)), criterion("GDPR", "does not apply", null), criterion("Short", "0", quote(null, 4, false)), criterion("Named", HOSTILE, quote(3, 1))],
  item_criteria: [{ number: 1, text: HOSTILE, met: true, tone: "bad", weight: "-4", adds: "takes away 4 of 8", rationale: HOSTILE }],
  facts: { caption: "", columns: [], rows: [] },
};

it("numbers quotes in the order of the criteria, those of what has none left out", () => {
  const quotes = quotesOf(judged);
  expect(quotes.map((one) => one.turn)).toEqual([2, null, 3]);
  expect(quotesOf(undefined)).toEqual([]);
  expect(spansIn(quotes, 2)).toEqual([[{ start: 0, end: 2 }], [], []]);
  expect(spansIn(quotes, null, 3)).toEqual([[], [], [{ start: 1, end: 3 }]]); // the answer is turn 3, too
});

it("says what was given, what stands where, and what each of the item's criteria adds", () => {
  const html = renderToStaticMarkup(createElement(Judged, { found: judged }));
  for (const said of [">GDPR<", ">does not apply<", "✓ stands", "✕ it does not stand in the answer", "weight -4, takes away 4 of 8"]) expect(html).toContain(said);
  expect([...html.matchAll(/<sup>(\d)<\/sup>/g)].map((one) => one[1])).toEqual(["1", "2", "3"]);
});

it("marks a quote in the turn that it names", () => {
  const turns = [{ number: 1, head: "user", text: "abcd" }, { number: 2, head: "tool, result of c1", text: "<i>ef" }];
  const html = renderToStaticMarkup(createElement(Turns, { turns, quotes: quotesOf(judged) }));
  expect(html).toContain("tool, result of c1");
  expect([...html.matchAll(/<mark>(.*?)<\/mark>/g)].map((one) => one[1])).toEqual(["&lt;i<sup>1</sup>"]);
});

it("shows what others wrote as text alone", () => {
  const html = renderToStaticMarkup(createElement(Judged, { found: judged }));
  expect(html).not.toMatch(/<(script|b|i)\b|\u202e/);
  expect(html).toContain("&lt;script&gt;window.ran = 1&lt;/script&gt;");
});
