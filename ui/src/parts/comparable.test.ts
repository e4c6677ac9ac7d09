import { expect, it } from "vitest";
import { whyNotCompared } from "./comparable";

const run = (run_id: string, spec: string, compared_as: string | null, not_compared: string | null = null) => ({ run_id, spec, compared_as, not_compared });
const v1 = run("a", "rubric@v1", "rubric");
const v2 = run("b", "rubric@v2", "rubric");
const other = run("c", "number@v1", "number");
const going = run("d", "number@v1", null, "it is running: its numbers come at its end");

it.each([
  ["alone", v1, [], null],
  ["another version", v2, [v1], null],
  ["another scorer", other, [v2, v1], "b was scored under rubric@v2, c under number@v1: their scores answer different questions; compare runs of one scorer"],
  ["with none", going, [], "it is running: its numbers come at its end"],
  ["beside one that can be with none", other, [going], null],
])("a run is picked, or it is said why not: %s", (_, row, chosen, why) => expect(whyNotCompared(row, chosen)).toBe(why));
