import { expect, it } from "vitest";
import { COLUMNS, columnsOf, gridOf, namesOf } from "./columns";

it.each([
  [null, null],
  ["", null],
  ["nonsense,<b>", null],
  ["cost", "run,cost"],
  ["started,run,model", "run,model,started"], // in their own order
  ["run", "run"],
  ["cost,cost,nothing", "run,cost"],
])("reads columns from an address: %s", (text, wanted) => {
  const found = columnsOf(text);
  expect(found === null ? null : namesOf(found)).toBe(wanted);
});

it("has a way back from every choice", () => expect(columnsOf(namesOf(COLUMNS))).toEqual(COLUMNS));

it("gives each column its least width, and the room that is left to names", () =>
  expect(gridOf(columnsOf("model,cost")!)).toEqual({ columns: "1.6rem minmax(14rem, 3fr) minmax(9rem, 2fr) 6rem", least: "34.35rem" }));
