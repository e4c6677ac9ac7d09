import { useRef, useState } from "react";
import { keysOfPage, useKeys, type KeyWords } from "./use-keys";

const HELP: KeyWords = { keys: ["?"], does: "shows the keys of this page" };

/** The keys of the page that is looked at, on `?`. The browser's own dialog keeps the focus, and gives it back. */
export function KeysHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState<readonly KeyWords[]>([]);
  const open = () => {
    setWords([...keysOfPage(), HELP]);
    dialog.current?.showModal();
  };
  useKeys({ "?": open });
  return (
    <>
      <button type="button" className="keys" aria-haspopup="dialog" aria-label="Keys of this page" onClick={open}>
        ?
      </button>
      <dialog ref={dialog} aria-labelledby="keys-of-page">
        <h2 id="keys-of-page">Keys of this page</h2>
        <dl className="facts">
          {words.map((one) => (
            <div key={`${one.keys.join(" ")} ${one.does}`} className="fact">
              <dt>
                {one.keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{one.does}</dd>
            </div>
          ))}
        </dl>
        <p className="actions">
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </p>
      </dialog>
    </>
  );
}
