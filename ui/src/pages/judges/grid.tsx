import type { ProtocolOfRun, TargetVariant } from "../../api/types";
import { shade } from "../../charts/span-places";
import { count, measured } from "../../numbers";
import { useMedia } from "../../parts/use-media";
import { Inline } from "../../text/model-text";
import { visible } from "../../text/visible";

type Open = (target: string, variant: string) => void;

interface Props {
  targets: readonly TargetVariant[];
  protocol: ProtocolOfRun;
  onOpen: Open;
}

/** Targets by variants: mean overall score, by cross-judging alone. A cell leads to its evaluations; on a phone they stand below each other. */
export function Grid({ targets, protocol, onOpen }: Props) {
  const narrow = useMedia("(max-width: 46rem)");
  return (
    <section className="part grid" aria-labelledby="grid">
      <h2 id="grid">Targets and variants</h2>
      <p className="small quiet">
        Mean overall score by judges that judge others, {protocol.lowest} to {protocol.highest}, with its interval; n counts outputs. A cell leads to its evaluations.
      </p>
      {narrow ? <Listed targets={targets} protocol={protocol} onOpen={onOpen} /> : <Crossed targets={targets} protocol={protocol} onOpen={onOpen} />}
      <p className="legend small quiet">
        <span>
          {[1, 2, 3, 4, 5].map((step) => <span key={step} className={`swatch shade-${step}`} />)} the stronger the colour, the higher the mean
        </span>
        <span><span className="swatch shade-0" /> no evaluation that counts</span>
        <span>– never judged</span>
      </p>
    </section>
  );
}

function Crossed({ targets, protocol, onOpen }: Props) {
  const variants = [...new Set(targets.map((one) => one.prompt_variant))];
  return (
    <div className="table" tabIndex={0} role="region" aria-label="Table of targets and variants">
      <table>
        <thead>
          <tr>
            <th scope="col">Target</th>
            {variants.map((variant) => <th scope="col" key={variant}><Inline text={variant} /></th>)}
          </tr>
        </thead>
        <tbody>
          {modelsOf(targets).map((model) => (
            <tr key={model}>
              <th scope="row"><Inline text={model} /></th>
              {variants.map((variant) => {
                const cell = targets.find((one) => one.target_model === model && one.prompt_variant === variant);
                return <td key={variant}>{cell === undefined ? <span className="quiet">–<span className="unseen"> never judged</span></span> : <Cell cell={cell} protocol={protocol} onOpen={onOpen} />}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Listed({ targets, protocol, onOpen }: Props) {
  return modelsOf(targets).map((model) => (
    <div key={model} className="grid-listed">
      <h3><Inline text={model} /></h3>
      <ul>
        {targets.filter((one) => one.target_model === model).map((one) => (
          <li key={one.prompt_variant}><Cell cell={one} protocol={protocol} onOpen={onOpen} named /></li>
        ))}
      </ul>
    </div>
  ));
}

const modelsOf = (targets: readonly TargetVariant[]): string[] => [...new Set(targets.map((one) => one.target_model))];

function Cell({ cell, protocol, onOpen, named = false }: { cell: TargetVariant; protocol: ProtocolOfRun; onOpen: Open; named?: boolean }) {
  const { overall } = cell;
  const { value, beside } = measured("grade", overall);
  const step = overall.value === null ? 0 : Math.max(shade((overall.value - protocol.lowest) / protocol.span), 1);
  return (
    <button type="button" className={`cell shade-${step}`} aria-label={`Evaluations of ${visible(cell.target_model)}, ${visible(cell.prompt_variant)}`} onClick={() => onOpen(cell.target_model, cell.prompt_variant)}>
      {named && <span className="small"><Inline text={cell.prompt_variant} /></span>}
      <strong>{value}</strong>
      <span className="small">
        {cell.n_valid === 0 ? `none of ${count(cell.n)} counts` : `${beside} · n = ${count(cell.n_outputs)}`}
      </span>
      {cell.n_valid > 0 && cell.n_valid < cell.n && <span className="small">{count(cell.n - cell.n_valid)} of {count(cell.n)} don't count</span>}
    </button>
  );
}
