import { expect, it } from "vitest";
import { comparedRuns, heldRuns } from "./state";

const ORDER = ["old", "mid", "new"];
const held = (search: string) => heldRuns(ORDER, comparedRuns(new URLSearchParams(search)));

it.each([
  ["in any order, the first to be trained is the baseline", "run=new&run=mid&run=old", ["old", "mid", "new"], "mid"],
  ["one that was chosen", "run=new&run=mid&run=old&baseline=new", ["new", "old", "mid"], "old"],
  ["and one held against it", "run=new&run=mid&run=old&baseline=new&b=1", ["new", "old", "mid"], "mid"],
  ["an address of before: b is held against the first", "run=new&run=mid&run=old&b=2", ["new", "old", "mid"], "old"],
  ["b is the baseline itself", "run=new&run=mid&run=old&baseline=old&b=2", ["old", "mid", "new"], "mid"],
  ["a baseline that is not among them", "run=new&run=mid&run=old&baseline=gone", ["old", "mid", "new"], "mid"],
  ["b is beyond them", "run=new&run=mid&run=old&b=9", ["new", "old", "mid"], "old"],
  ["b is no place", "run=new&run=mid&run=old&baseline=old&b=x", ["old", "mid", "new"], "mid"],
])("an address says what is held against what: %s", (_, search, runs, b) => expect(held(search)).toEqual({ runs, b }));

it("a run is named once, and there are twenty at most", () => {
  expect(comparedRuns(new URLSearchParams("run=a&run=a&run=b")).runs).toEqual(["a", "b"]);
  const many = Array.from({ length: 30 }, (_, n) => `run=${n % 25}`).join("&");
  expect(comparedRuns(new URLSearchParams(many)).runs).toHaveLength(20);
});
