import { expect, it } from "vitest";
import { passes } from "./slices";

it("has a share with what it is a share of", () => expect(passes({ pass_rate: 1 / 3, n_passed: 2, n_samples: 6 })).toBe("33.3 %, 2 of 6"));
it("has none of no samples", () => expect(passes({ pass_rate: null, n_passed: 0, n_samples: 0 })).toBe("– (no data)"));
