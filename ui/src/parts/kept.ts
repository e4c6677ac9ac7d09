/** A choice that this browser remembers for the next time: how things are shown, never what. */

const key = (name: string): string => `benchbook:${name}`;

/** What was chosen last; empty where nothing was, or where the browser stores nothing. */
export function keptChoice(name: string): string {
  try {
    return window.localStorage.getItem(key(name)) ?? "";
  } catch {
    return "";
  }
}

/** Remembers a choice; an empty one is forgotten. */
export function keepChoice(name: string, value: string): void {
  try {
    if (value === "") window.localStorage.removeItem(key(name));
    else window.localStorage.setItem(key(name), value);
  } catch {
    // then the address alone has it
  }
}
