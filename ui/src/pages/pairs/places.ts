import { changedQuery } from "../../router";

/** The page of some runs in pairs. */
export function pairsAddress(pairs: string): string {
  return `/pairs${changedQuery("", { pairs })}`;
}
