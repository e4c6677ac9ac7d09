/** Where pages are scrolled to: kept for each step of the browser's history, so that back and reload find it. */

import { isUnderWay } from "./api/under-way";

const STORE = "benchbook:scrolled";
const MOST = 200; // positions that a tab remembers
const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"] as const;
const LOOK_MS = 40;
const QUIET_LOOKS = 3; // what has come may ask for more
const HELD_MS = 5_000; // what has not come by then may move the page no more, unless it was asked for already
const MOST_HELD_MS = 60_000; // a server may be slow

const positions = new Map<string, number>(); // by step of the history
let release: (() => void) | null = null;

/** What a new step of the history is told apart by. */
export const newStep = (): { step: string } => ({ step: Math.random().toString(36).slice(2) });

function step(): string {
  const state: unknown = window.history.state;
  return typeof state === "object" && state !== null && "step" in state ? String(state.step) : "";
}

function keep(): void {
  positions.delete(step()); // the newest stands last
  positions.set(step(), window.scrollY);
}

/** Whether the page is kept somewhere while it comes. */
export const isHeld = (): boolean => release !== null;

/** Calls `act` at the first thing that the reader does; returns what ends the waiting for it. */
function onceActed(act: () => void): () => void {
  for (const name of ACTS) window.addEventListener(name, act, { capture: true, passive: true });
  return () => {
    for (const name of ACTS) window.removeEventListener(name, act, { capture: true });
  };
}

const isComing = (): boolean => isUnderWay() || document.querySelector("main .loading") !== null;

/** Scrolls to where `wanted` says, again each time the page grows, until the reader does something. */
export function hold(wanted: () => number): () => void {
  release?.();
  const go = () => {
    if (Math.abs(window.scrollY - wanted()) > 1) window.scrollTo({ top: wanted(), behavior: "instant" });
  };
  const observer = new ResizeObserver(go); // before what has grown is painted: nobody sees it move
  const end = () => {
    observer.disconnect();
    window.clearInterval(timer);
    forget();
    if (release === end) release = null;
  };
  const leave = () => {
    end();
    keep();
  };
  const began = performance.now();
  const timer = window.setInterval(() => {
    if (!isComing() || performance.now() - began > MOST_HELD_MS) leave();
  }, HELD_MS);
  const forget = onceActed(leave);
  observer.observe(document.body);
  release = end;
  go();
  return end;
}

/** Shows nothing of the page until all has come that it asked for, so that it is seen where it will be; then does `then`. */
export function showOnceWhole(then: () => void): () => void {
  const root = document.documentElement;
  const began = performance.now();
  let quiet = 0;
  const end = () => {
    window.clearInterval(timer);
    forget();
    root.classList.remove("arriving");
  };
  const timer = window.setInterval(() => {
    quiet = isComing() ? 0 : quiet + 1;
    if (quiet < QUIET_LOOKS && performance.now() - began < HELD_MS) return;
    end();
    then();
  }, LOOK_MS);
  const forget = onceActed(end);
  root.classList.add("arriving");
  return end;
}

function recall(): void {
  try {
    const stored: unknown = JSON.parse(window.sessionStorage.getItem(STORE) ?? "{}");
    for (const [key, px] of Object.entries(stored ?? {})) if (typeof px === "number") positions.set(key, px);
  } catch {
    // a browser that stores nothing
  }
}

function store(): void {
  try {
    window.sessionStorage.setItem(STORE, JSON.stringify(Object.fromEntries([...positions].slice(-MOST))));
  } catch {
    // nothing is remembered then
  }
}

/** Begins to remember; once, before anything is drawn. */
export function rememberScrolling(): void {
  window.history.scrollRestoration = "manual"; // the browser's own comes before there is anything to scroll
  recall();
  window.addEventListener("scroll", () => release === null && keep(), { passive: true });
  window.addEventListener("popstate", () => {
    if (window.history.state === null) window.history.replaceState(newStep(), ""); // a jump within the page
    else hold(() => positions.get(step()) ?? 0);
  });
  window.addEventListener("pagehide", store);
  if (window.history.state === null) window.history.replaceState(newStep(), "");
  else if (positions.has(step())) hold(() => positions.get(step()) ?? 0);
}
