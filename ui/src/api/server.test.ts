import { expect, test } from "vitest";
import { heard, whenBack } from "./server";

test("whoever waits for the server goes on once it answers, and at once where it does", async () => {
  await whenBack();
  heard(false);
  let back = false;
  const waiting = whenBack().then(() => (back = true));
  heard(false);
  await Promise.resolve();
  expect(back).toBe(false);
  heard(true);
  await waiting;
  expect(back).toBe(true);
});
