import { useEffect, useRef, type ReactNode } from "react";

interface Props {
  label: string;
  title: ReactNode;
  what: string; // sample, item, evaluation
  onClose: () => void;
  onMove: ((by: number) => void) | null;
  children: ReactNode;
  className?: string;
}

/** What is opened of a list, beside it where there is room. It comes into view, and the list keeps the keyboard. */
export function Panel({ label, title, what, onClose, onMove, children, className = "" }: Props) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    const box = place.current?.getBoundingClientRect();
    if (box !== undefined && (box.top > window.innerHeight - 200 || box.bottom < 100)) place.current?.scrollIntoView({ block: "start" });
  }, []);
  return (
    <aside ref={place} className={`item-panel ${className}`} aria-label={label}>
      <header>
        <h3>{title}</h3>
        <div className="actions">
          {onMove !== null && (
            <>
              <button type="button" aria-label={`${what} before`} onClick={() => onMove(-1)}>
                ↑
              </button>
              <button type="button" aria-label={`Next ${what}`} onClick={() => onMove(1)}>
                ↓
              </button>
            </>
          )}
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </header>
      {children}
    </aside>
  );
}
