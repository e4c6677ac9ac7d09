import type { ReactNode } from "react";

interface Props {
  to: () => HTMLElement | null;
  children: ReactNode;
}

/** For whoever goes by Tab: leads past what stands before `to`. A button, since on a site what follows a # is a page's address. */
export function Skip({ to, children }: Props) {
  return (
    <button type="button" className="skip" onClick={() => to()?.focus()}>
      {children}
    </button>
  );
}
