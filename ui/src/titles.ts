/** What a tab is called: what is open comes first, for tabs are narrow. */

import { oneLine } from "./text/visible";

const LONGEST = 40; // characters of a name
const OPENED = ["sample", "item", "evaluation"] as const;
const LABEL_VIEWS: Readonly<Record<string, string>> = { settle: "Settle", results: "Labels" };

/** `base vs tuned, item 3 – Compare – Benchbook`. `place` is the page's name, `id` the run's where it is a page of one. */
export function titleOf(place: string, id: string, query: URLSearchParams): string {
  const named = id !== "" ? [id] : [...query.getAll("run"), ...query.getAll("labels")];
  const [first, second, ...others] = named.map((name) => oneLine(name, LONGEST));
  const names = [first, second].filter((name) => name !== undefined).join(" vs ") + (others.length > 0 ? ` and ${others.length} more` : "");
  const opened = OPENED.flatMap((name) => (query.has(name) ? [`${name} ${oneLine(query.get(name) ?? "", 12)}`] : []));
  const page = id !== "" ? "" : place === "Label" ? (LABEL_VIEWS[query.get("view") ?? ""] ?? place) : place;
  return [[names, ...opened].filter((part) => part !== "").join(", "), page, "Benchbook"].filter((part) => part !== "").join(" – ");
}
