import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { Decision } from "../../api/client";
import type { Gate, GateWords } from "../../api/types";
import { Gates } from "./gates";

const gate = { aggregate: "pass_rate", direction: "at_least", limit: 0.85, value: 0.84996, worst: 0.8, best: 0.9, holds: false, interval: null, bound_holds: false } as Gate;
const words: GateWords = { label: "Pass rate", rule: "at least 85 %", value: "84.996 %", n: null, interval: "– (not computed)", tone: "doubt", text: "Holds", detail: "but its confidence bound does not" };

function shown(more: Partial<GateWords>): string {
  const table = { caption: "The gates", columns: [], rows: [] };
  const decision = { gates: [gate], words: { gates: [{ ...words, ...more }], gates_table: table } } as unknown as Decision;
  return renderToStaticMarkup(createElement(Gates, { decision }));
}

it.each([
  [{}, 'tone-doubt', "<strong>Holds</strong>, but its confidence bound does not"],
  [{ tone: "none", text: "Not judged", detail: "declared unmeasured" }, "tone-none", "<strong>Not judged</strong>, declared unmeasured"],
  [{ tone: "good", detail: null }, "tone-good", "<strong>Holds</strong></span>"],
] as const)("says %j", (more, tone, text) => {
  const html = shown(more);
  expect(html).toContain(`class="${tone}"`);
  expect(html).toContain(text);
  expect(html).toContain('<p class="figure">84.996 %</p>');
  expect(html).toContain("≥ 85 %");
});
