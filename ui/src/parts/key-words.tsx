/** What the keys of lists and fields do, as the help and the lists themselves say it. */

import type { KeyWords } from "./use-keys";

export const MOVE: KeyWords = { keys: ["j", "k"], does: "move in the list" };
export const MOVE_FAR: KeyWords = { keys: ["Page Up", "Page Down", "Home", "End"], does: "move far in the list, where it has the focus" };
export const OPEN: KeyWords = { keys: ["Enter"], does: "opens" };
export const CLOSE: KeyWords = { keys: ["Esc"], does: "closes" };
export const SEARCH: KeyWords = { keys: ["/"], does: "searches" };

export const LIST_KEYS = [MOVE, MOVE_FAR, OPEN, CLOSE] as const;
export const SEARCHED_LIST_KEYS = [...LIST_KEYS, SEARCH] as const;

/** Some keys and what they do, in a line. */
export function KeyLine({ words }: { words: readonly KeyWords[] }) {
  return (
    <p className="small quiet keys">
      {words.map((one, place) => (
        <span key={one.does}>
          {place > 0 && ", "}
          {one.keys.map((key) => <kbd key={key}>{key}</kbd>)} {one.does}
        </span>
      ))}
    </p>
  );
}
