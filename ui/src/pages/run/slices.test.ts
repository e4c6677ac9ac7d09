import { expect, it } from "vitest";
import type { Aggregates } from "../../api/client";
import { slicesOf } from "./slices";

const slice = (value: string | null) => ({ value, n_items: 5, n_scored: 4, mean: 0.4 });
const found = (section: (string | null)[], category: (string | null)[] = []) =>
  slicesOf({ misses: {}, section: section.map(slice), category: category.map(slice), difficulty: [] } as unknown as Aggregates);

it("has a line for each value, over all its items", () => expect(found(["core"])).toEqual([{ field: "section", name: "core", n: 5, score: 0.4, predicted: 4 }]));
it("has one for the items that name none", () => expect(found(["core", null]).map((one) => one.name)).toEqual(["core", null]));
it("has none where no item names one", () => expect(found([null], ["a"]).map((one) => one.field)).toEqual(["category"]));
it("has none of an experiment", () => expect(slicesOf({ analysis: {} } as Aggregates)).toEqual([]));
