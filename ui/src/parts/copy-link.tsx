import { useEffect, useState } from "react";

const SAID_MS = 4_000;

/** Copies the address, which holds all that is shown, and says so. */
export function CopyLink() {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = window.setTimeout(() => setSaid(""), SAID_MS);
    return () => window.clearTimeout(timer);
  }, [said]);
  const copy = () => void copied(window.location.href).then((done) => setSaid(done ? "Link copied" : "Copy it from the address bar"));
  return (
    <span className="copy-link">
      <button type="button" onClick={copy}>
        Copy link
      </button>
      <span role="status" className="small">
        {said}
      </span>
    </span>
  );
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedFromField(text); // without TLS, away from this machine, browsers have no clipboard
  }
}

function copiedFromField(text: string): boolean {
  const field = document.createElement("textarea");
  const before = document.activeElement;
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  // oxlint-disable-next-line typescript/no-deprecated -- there is no other way where the clipboard is refused
  const done = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
