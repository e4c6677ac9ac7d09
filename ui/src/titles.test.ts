import { expect, it } from "vitest";
import { titleOf } from "./titles";

it.each([
  ["Runs", "", "", "Runs – Benchbook"],
  ["Run", "judged", "", "judged – Benchbook"],
  ["Run", "judged", "at=12&sample=12", "judged, sample 12 – Benchbook"],
  ["Compare", "", "run=base&run=tuned", "base vs tuned – Compare – Benchbook"],
  ["Compare", "", "run=base&run=tuned&item=3", "base vs tuned, item 3 – Compare – Benchbook"],
  ["Compare", "", "run=a&run=b&run=c&run=d", "a vs b and 2 more – Compare – Benchbook"],
  ["Compare", "", "", "Compare – Benchbook"],
  ["Judges", "", "run=e&evaluation=9", "e, evaluation 9 – Judges – Benchbook"],
  ["Label", "", "labels=people&labeller=ann", "people – Label – Benchbook"],
  ["Label", "", "labels=people&view=settle", "people – Settle – Benchbook"],
  ["Not found", "", "", "Not found – Benchbook"],
  ["Run", "a\u202eb", "", "a\\u202eb – Benchbook"],
  ["Run", "x".repeat(50), "", `${"x".repeat(39)}… – Benchbook`],
])("%s %s?%s is called %s", (place, id, query, wanted) => expect(titleOf(place, id, new URLSearchParams(query))).toBe(wanted));
