import { address, get } from "./client";
import type { WhoAmI } from "./types";
import { useAnswer, type Resource } from "./use-resource";

/** Who asks, and what they may do; asked again for another `key`. */
export function useMe(key = "page"): Resource<WhoAmI> {
  return useAnswer(key, (signal) => get(address("/me"), signal));
}
