import type { MouseEvent, ReactNode } from "react";
import { outer } from "../base";
import { navigate } from "../router";

interface Props {
  to: string;
  children: ReactNode;
  className?: string;
  current?: boolean;
  label?: string;
  keep?: boolean; // stays where the page is scrolled to
}

/** A link within the page: a click moves without loading it again, any other use is the browser's own. */
export function Link({ to, children, className, current, label, keep = false }: Props) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
    if (!keep) window.scrollTo(0, 0);
  };
  return (
    <a href={outer(to)} onClick={follow} className={className} aria-label={label} aria-current={current ? "page" : undefined}>
      {children}
    </a>
  );
}
