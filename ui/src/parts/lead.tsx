import { Inline } from "../text/model-text";

/** What all that follows comes to, a sentence a line. */
export function Lead({ sentences }: { sentences: readonly string[] }) {
  return (
    <div className="lead">
      {sentences.map((one) => <p key={one}><Inline text={one} /></p>)}
    </div>
  );
}
