import type { ProtocolOfRun, TargetVariant } from "../../api/types";
import { count, measured } from "../../numbers";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";

/** Targets by variants: mean overall score, by cross-judging alone. A cell leads to its evaluations. */
export function Grid({ targets, protocol, onOpen }: { targets: readonly TargetVariant[]; protocol: ProtocolOfRun; onOpen: (target: string, variant: string) => void }) {
  const models = [...new Set(targets.map((one) => one.target_model))];
  const variants = [...new Set(targets.map((one) => one.prompt_variant))];
  return (
    <section className="part" aria-labelledby="grid">
      <h2 id="grid">Targets and variants</h2>
      <p className="small quiet">Mean overall score, {protocol.lowest} to {protocol.highest}, of valid cross-judging evaluations; below, the interval and how many outputs.</p>
      <div className="table grid" tabIndex={0} role="region" aria-label="Table of targets and variants">
        <table>
          <thead>
            <tr>
              <th scope="col">Target</th>
              {variants.map((variant) => <th scope="col" key={variant}><Inline text={variant} /></th>)}
            </tr>
          </thead>
          <tbody>
            {models.map((model) => (
              <tr key={model}>
                <th scope="row"><Inline text={model} /></th>
                {variants.map((variant) => {
                  const cell = targets.find((one) => one.target_model === model && one.prompt_variant === variant);
                  return <td key={variant}>{cell === undefined ? <span className="quiet">–</span> : <Cell cell={cell} protocol={protocol} onOpen={onOpen} />}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Cell({ cell, protocol, onOpen }: { cell: TargetVariant; protocol: ProtocolOfRun; onOpen: (target: string, variant: string) => void }) {
  const { overall } = cell;
  const { value, beside } = measured("grade", overall);
  const quarters = overall.value === null ? null : (4 * (overall.value - protocol.lowest)) / protocol.span;
  const step = quarters === null ? "none" : String(Math.min(Math.floor(quarters), 3));
  return (
    <button type="button" className={`cell step-${step}`} aria-label={`Evaluations of ${visible(cell.target_model)}, ${visible(cell.prompt_variant)}`} onClick={() => onOpen(cell.target_model, cell.prompt_variant)}>
      <strong>{value}</strong>
      <span className="small">
        {cell.n_valid === 0 ? "none valid" : `${beside} · n = ${count(cell.n_outputs)}`}
      </span>
      {cell.n_valid < cell.n && <span className="small">{count(cell.n - cell.n_valid)} invalid of {count(cell.n)}</span>}
    </button>
  );
}
