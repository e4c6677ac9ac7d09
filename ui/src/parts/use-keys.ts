import { useEffect, useEffectEvent, useId } from "react";

export interface KeyWords {
  keys: readonly string[];
  does: string;
}

const listed = new Map<string, readonly KeyWords[]>();
const NONE: readonly KeyWords[] = [];

/** What the keys of the page that is looked at do, each said once. */
export function keysOfPage(): readonly KeyWords[] {
  const byWords = new Map([...listed.values()].flat().map((one) => [`${one.keys.join(" ")} ${one.does}`, one]));
  return [...byWords.values()];
}

/** Keys of a whole page, and what they do; they are left alone while somebody types in a field, or a dialog is open. */
export function useKeys(keys: Readonly<Record<string, (event: KeyboardEvent) => void>>, words: readonly KeyWords[] = NONE): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable], dialog")) return;
    const act = keys[event.key];
    if (act === undefined || (event.key === "Enter" && isPressable(event.target))) return;
    event.preventDefault();
    act(event);
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => press(event);
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
  const me = useId();
  useEffect(() => void listed.set(me, words));
  useEffect(() => () => void listed.delete(me), [me]);
}

/** True of what Enter presses: what a button or a link does is its own. */
const isPressable = (target: EventTarget | null): boolean => target instanceof Element && target.closest("button, a, summary") !== null;
