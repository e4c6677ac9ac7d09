import { expect, it } from "vitest";
import { filtersOf } from "./pages/compare/item-filters";
import { backFromLogin, changedQuery, compareAddress, placeOf, runAddress } from "./router";

it.each([
  ["?a=1&b=2", { a: "3" }, "?b=2&a=3"],
  ["?a=1", { a: null }, ""],
  ["?a=1", { a: "" }, ""],
  ["", { run: ["x", "y"] }, "?run=x&run=y"],
  ["?a=1", {}, "?a=1"],
])("changedQuery(%j, %j)", (search, changes, wanted) => expect(changedQuery(search, changes)).toBe(wanted));

it("an id never leaves its place in an address", () => {
  expect(runAddress("../x?y#z")).toBe("/runs/..%2Fx%3Fy%23z");
  expect(compareAddress(["a&run=b"])).toBe("/compare?run=a%26run%3Db");
});

it.each([
  [null, "/"],
  ["/runs/a?sample=1", "/runs/a?sample=1"],
  ["//example.org/x", "/"],
  ["/\\example.org", "/"],
  ["https://example.org", "/"],
  ["javascript:alert(1)", "/"],
  ["runs", "/"],
  ["/login?to=%2Flogin", "/"],
])("a login for %j leads back to %j", (to, wanted) => expect(backFromLogin(to)).toBe(wanted));

it.each([
  ["3", 3],
  ["-3", null],
  ["1e3", null],
  ["", null],
  [null, null],
])("placeOf(%j)", (text, wanted) => expect(placeOf(text)).toBe(wanted));

it("filters not in the address are empty", () => expect(filtersOf(new URLSearchParams("class=regressed"))).toMatchObject({ class: "regressed", text: "" }));
