import { createContext, useContext, type ReactNode, type RefObject } from "react";

/** Where a list looks for its panel, to bring it into view. */
export const PanelPlace = createContext<RefObject<HTMLElement | null> | null>(null);

interface Props {
  label: string;
  title: ReactNode;
  what: string; // sample, item, evaluation
  onClose: () => void;
  onMove: ((by: number) => void) | null;
  children: ReactNode;
  className?: string;
}

/** What is opened of a list, beside it where there is room. */
export function Panel({ label, title, what, onClose, onMove, children, className = "" }: Props) {
  const place = useContext(PanelPlace);
  return (
    <aside ref={place} tabIndex={-1} className={`item-panel ${className}`} aria-label={label}>
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
