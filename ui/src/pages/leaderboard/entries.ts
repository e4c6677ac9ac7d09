import type { Apart, Leaderboard, Place } from "../../api/types";

/** A line of the leaderboard: a run that is ranked, or one that stands apart. */
export type Entry = Place | Apart;

export const ORDERS = [
  { value: "", text: "best first" },
  { value: "worst", text: "worst first" },
  { value: "run", text: "by run" },
  { value: "model", text: "by model" },
];

/** The lines whose run or model has each word of `text`, in an order; runs that are not ranked come last. */
export function listed(board: Pick<Leaderboard, "places" | "apart">, text: string, order: string): readonly Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const fits = ({ run, model }: Entry) => words.every((word) => `${run} ${model ?? ""}`.toLowerCase().includes(word));
  const places = board.places.filter(fits);
  const apart = board.apart.filter(fits);
  switch (order) {
    case "worst":
      return [...places.toReversed(), ...apart];
    case "run":
      return [...places, ...apart].toSorted((one, other) => compared(one.run, other.run));
    case "model":
      return [...places, ...apart].toSorted((one, other) => compared(one.model ?? "", other.model ?? "") || compared(one.run, other.run));
    default:
      return [...places, ...apart];
  }
}

const collator = new Intl.Collator("en", { numeric: true });
const compared = (one: string, other: string): number => collator.compare(one, other);
