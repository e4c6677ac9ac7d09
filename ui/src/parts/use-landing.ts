import { useEffect, useRef, type RefObject } from "react";
import { hold, isHeld } from "../scroll";

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
    if (arrives) {
      element.focus({ preventScroll: true });
      if (isHeld()) return; // back and reload lead to where the page was
    }
    return hold(() => {
      const { top } = element.getBoundingClientRect();
      const seen = !arrives && !alone && top >= 0 && top < window.innerHeight / 2;
      return seen ? window.scrollY : Math.max(window.scrollY + top - ABOVE_PX, 0);
    });
  }, [place, opened, alone]);
}
