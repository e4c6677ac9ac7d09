import { expect, it } from "vitest";
import { inner, outer } from "./base";

it.each([
  ["/", "/", "/"],
  ["/", "/runs/a%2Fb", "/runs/a%2Fb"],
  ["/proxy/8400/", "/", "/proxy/8400/"],
  ["/proxy/8400/", "/runs/a?sample=1", "/proxy/8400/runs/a?sample=1"],
  ["/runs/", "/runs/a", "/runs/runs/a"],
])("below %j, %j is %j and back", (base, path, address) => {
  expect(outer(path, base)).toBe(address);
  expect(inner(address, base)).toBe(path);
});

it("the page without the mark at its end is the page", () => expect(inner("/bench", "/bench/")).toBe("/"));
it("what lies elsewhere stays", () => expect(inner("/benches/x", "/bench/")).toBe("/benches/x"));
