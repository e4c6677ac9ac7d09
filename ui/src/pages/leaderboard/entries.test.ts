import { expect, it } from "vitest";
import type { Apart, Place } from "../../api/types";
import { listed } from "./entries";

const place = (run: string, rank: number, model: string | null = null) => ({ run, rank, model }) as Place;
const board = { places: [place("r10", 1, "lab/a"), place("r2", 2, "lab/b"), place("r1", 3)], apart: [{ run: "r3", model: "lab/a", reason: "crashed" } as Apart] };
const order = (text: string, by: string) => listed(board, text, by).map((one) => one.run);

it("has all runs, those that are not ranked last", () => expect(order("", "")).toEqual(["r10", "r2", "r1", "r3"]));
it("has the worst first, and still those not ranked last", () => expect(order("", "worst")).toEqual(["r1", "r2", "r10", "r3"]));
it("sorts names as people count", () => expect(order("", "run")).toEqual(["r1", "r2", "r3", "r10"]));
it("sorts by model, then run", () => expect(order("", "model")).toEqual(["r1", "r3", "r10", "r2"]));
it("finds each word in run or model", () => expect(order("LAB/A r1", "")).toEqual(["r10"]));
it("leaves the board as it is", () => expect(board.places.map((one) => one.rank)).toEqual([1, 2, 3]));
