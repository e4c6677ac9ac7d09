import { useEffect, useEffectEvent, useRef, useState } from "react";

/**
 * A text field's own value, told on once nobody has typed for a moment. What comes from outside (a link, going back)
 * takes its place.
 */
export function useTyped(outside: string, tell: (text: string) => void, afterMs = 80): [string, (text: string) => void] {
  const [text, setText] = useState(outside);
  const told = useRef(outside);
  const tellNow = useEffectEvent(tell);

  useEffect(() => {
    if (outside !== told.current) {
      told.current = outside;
      setText(outside);
    }
  }, [outside]);

  useEffect(() => {
    if (text === told.current) return;
    const timer = window.setTimeout(() => {
      told.current = text;
      tellNow(text);
    }, afterMs);
    return () => window.clearTimeout(timer);
  }, [text, afterMs]);

  return [text, setText];
}
