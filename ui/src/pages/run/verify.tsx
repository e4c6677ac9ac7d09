import { useState } from "react";
import { address, errorOf, get, send, type ApiError } from "../../api/client";
import type { VerificationAnswer, VerificationJob } from "../../api/types";
import { useEvery } from "../../api/use-every";
import { useAnswer } from "../../api/use-resource";
import { counted } from "../../format";
import { Wrong } from "../../parts/states";
import { Inline } from "../../text/model-text";

const LOOK_MS = 500;

/** Re-derives every number of the record from its journal, on the server, and says what does not hold. It goes on while another page is looked at. `state` names the record as it is. */
export function Verify({ id, state }: { id: string; state: string | null }) {
  const job = useAnswer<VerificationJob>(`${id} ${state}`, (signal) => get(address("/runs/{run_id}/verification", { run_id: id }), signal));
  const [wrong, setWrong] = useState<ApiError | null>(null);
  const found = job.data;
  const goesOn = found?.state === "waiting" || found?.state === "running";
  useEvery(LOOK_MS, job.again, goesOn);
  const begin = () => {
    setWrong(null);
    send("POST /runs/{run_id}/verification", { run_id: id }).then(job.again, (error: unknown) => setWrong(errorOf(error)));
  };
  return (
    <>
      <button type="button" onClick={begin} disabled={goesOn}>
        {goesOn ? "Verifying …" : "Verify this record"}
      </button>
      <span role="status" className="verified">
        {wrong !== null && <Wrong error={wrong} />}
        {found?.state === "failed" && <span className="wrong small"><Inline text={found.detail ?? ""} /></span>}
        {found !== null && found.answer !== null && <Verified found={found.answer} />}
        {goesOn && found.words !== null && <span className="small quiet">{found.words}</span>}
      </span>
      {goesOn && <progress className="verifying" max={found.total ?? undefined} value={found.total === null ? undefined : (found.done ?? 0)} aria-label="Verified so far" />}
    </>
  );
}

function Verified({ found }: { found: VerificationAnswer }) {
  if (found.holds) {
    return (
      <span>
        <span className="chip tone-good"><span className="mark" aria-hidden="true">✓</span>Every byte holds</span>
        {found.not_computed !== null && <span className="small"> <Inline text={`${found.not_computed}.`} /></span>}
      </span>
    );
  }
  return (
    <span>
      <span className="chip tone-bad"><span className="mark" aria-hidden="true">✕</span>{counted(found.findings.length, "finding")}</span>{" "}
      {found.findings.slice(0, 3).map((one, place) => (
        <span key={place} className="small">
          <Inline text={`${one.file}${one.line === null ? "" : `:${one.line}`}: ${one.message}`} />{" "}
        </span>
      ))}
    </span>
  );
}
