import { expect, it } from "vitest";
import { address, API } from "./client";

it.each([
  [address("/me"), "/me"],
  [address("/runs/{run_id}", { run_id: "../a b?/#" }), "/runs/..%2Fa%20b%3F%2F%23"],
  [address("/runs/{run_id}/samples/{sample}", { run_id: "a", sample: 0 }), "/runs/a/samples/0"],
  [address("/runs/{run_id}/samples", { run_id: "$&{run_id}", text: "a&b", outcome: "", section: null, offset: 0 }), "/runs/%24%26%7Brun_id%7D/samples?text=a%26b&offset=0"],
  [address("/comparisons", { run: ["a", "b"] }), "/comparisons?run=a&run=b"],
])("%s", (found, wanted) => expect(found).toBe(API + wanted));
