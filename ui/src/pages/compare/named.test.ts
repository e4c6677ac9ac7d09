import { expect, test } from "vitest";
import { tableNamed, worded } from "./named";

test("the runs of a pair have the page's letters", () => {
  expect(worded("By score, {b} is better than {a} as judged alone: {b} may be none.", ["A", "C"])).toBe("By score, C is better than A as judged alone: C may be none.");
});

test("a letter is no pattern", () => {
  expect(worded("{b} − {a}", ["$&", "{a}"])).toBe("{a} − $&");
});

test("a table's heads and cells are named too", () => {
  const table = { caption: "c", columns: [{ name: "Over what both answered", number: false }, { name: "{b} − {a}", number: true }], rows: [["Score, as judged", "{b}"]] };
  expect(tableNamed(table, ["A", "D"])).toEqual({ caption: "c", columns: [{ name: "Over what both answered", number: false }, { name: "D − A", number: true }], rows: [["Score, as judged", "D"]] });
});
