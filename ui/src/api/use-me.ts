import { address, get } from "./client";
import { useAnswer, type Resource } from "./use-resource";

export type Scope = "read" | "label" | "write";

/** Who asks, and what they may do. `via` is `local` where the server asks nobody who they are. */
export interface Me {
  name: string;
  scopes: Scope[];
  login_needed: boolean;
  via: "local" | "token" | "cookie" | "nobody";
}

/** Asked again for another `key`. */
export function useMe(key = "page"): Resource<Me> {
  return useAnswer<Me>(key, (signal) => get<Me>(address("/me"), signal));
}
