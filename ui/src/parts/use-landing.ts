import { useEffect, useRef, type RefObject } from "react";
import { hold, isHeld, showOnceWhole } from "../scroll";

const ABOVE_PX = 8;

/**
 * Brings what is opened into view. Where the address opened it, the page lands there and the focus with it; where the
 * reader did, the page moves only if it must, and on a phone (`alone`: it stands in the list's place) to its top. It
 * stays there while what stands around it is still coming.
 */
export function useLanding(place: RefObject<HTMLElement | null>, opened: number | null, alone: boolean): void {
  const arriving = useRef(true);
  useEffect(() => {
    const [element, arrives] = [place.current, arriving.current];
    arriving.current = false;
    if (opened === null || element === null) return;
    element.scrollTop = 0;
    const shown = arrives ? showOnceWhole(() => element.focus({ preventScroll: true })) : nothing;
    const held = arrives && isHeld() ? nothing : hold(() => wantedTop(element, arrives || alone)); // back and reload lead to where the page was
    return () => {
      shown();
      held();
    };
  }, [place, opened, alone]);
}

/** Where the window is to be scrolled to; where it is, if the element is in view and need not stand at the top. */
function wantedTop(element: HTMLElement, atTop: boolean): number {
  const { top } = element.getBoundingClientRect();
  const seen = !atTop && top >= 0 && top < window.innerHeight / 2;
  return seen ? window.scrollY : Math.max(window.scrollY + top - ABOVE_PX, 0);
}

const nothing = (): void => undefined;
