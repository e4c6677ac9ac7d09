import { useRef } from "react";
import { address, get } from "../../api/client";
import type { Analysis, EvaluationsPage, EvaluationSummary } from "../../api/types";
import { usePages, type Page } from "../../api/use-pages";
import { words } from "../../format";
import { Choice } from "../../parts/fields";
import { Failed } from "../../parts/states";
import { useOpened } from "../../parts/use-opened";
import { useMedia } from "../../parts/use-media";
import { VirtualRows, type RowsHandle } from "../../parts/virtual-rows";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { EvaluationPanel } from "./evaluation-panel";

const SIZE = 100;
const numberOf = (row: EvaluationSummary): number => row.sample;
const FILTERS = ["judge", "target", "variant", "method", "valid"] as const;

/** Every evaluation; one opens with its quotes marked in the judged text. */
export function Evaluations({ run, analysis }: { run: string; analysis: Analysis | null }) {
  const [query, change] = useQuery();
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""])) as Record<(typeof FILTERS)[number], string>;
  const grid = useRef<RowsHandle>(null);
  const narrow = useMedia("(max-width: 46rem)");
  const url = (page: number) => address("/evaluations", { run, ...filters, offset: page * SIZE, limit: SIZE });
  const key = url(0);
  const pages = usePages<EvaluationSummary>(key, SIZE, async (page, signal): Promise<Page<EvaluationSummary>> => {
    const found = await get<EvaluationsPage>(url(page), signal);
    return { rows: found.evaluations, n: found.n };
  });
  const count = pages.count ?? 0;
  const { chosen, opened, select, open, close, move } = useOpened(pages, "evaluation", numberOf, grid);
  const options = (values: readonly string[]) => [{ value: "", text: "Any" }, ...[...new Set(values)].map((one) => ({ value: one, text: one }))];
  const filter = (changes: Record<string, string>) => change({ ...changes, at: null, evaluation: null }, { replace: true });

  return (
    <section className="part evaluations" aria-labelledby="evaluations">
      <div className="page-head">
        <h2 id="evaluations">Evaluations</h2>
        <p className="small quiet keys"><kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes</p>
        <span className="quiet" role="status">{pages.count === null ? "" : `${count.toLocaleString("en")} ${FILTERS.some((name) => filters[name] !== "") ? "fit" : "in all"}`}</span>
      </div>
      <div className="filters">
        <Choice label="Judge" value={filters.judge} options={options(analysis?.judges.map((one) => one.judge_model) ?? [])} onChange={(judge) => filter({ judge })} />
        <Choice label="Target" value={filters.target} options={options(analysis?.targets.map((one) => one.target_model) ?? [])} onChange={(target) => filter({ target })} />
        <Choice label="Variant" value={filters.variant} options={options(analysis?.targets.map((one) => one.prompt_variant) ?? [])} onChange={(variant) => filter({ variant })} />
        <Choice label="Method" value={filters.method} options={[{ value: "", text: "Any" }, { value: "cross_judge", text: "Cross-judging" }, { value: "self_judge", text: "Self-judging" }]} onChange={(method) => filter({ method })} />
        <Choice label="Validity" value={filters.valid} options={[{ value: "", text: "Any" }, { value: "true", text: "Valid" }, { value: "false", text: "Invalid" }]} onChange={(valid) => filter({ valid })} />
      </div>
      {pages.error !== null && <Failed error={pages.error} again={pages.again} what="evaluations" />}
      {pages.count === 0 && <p className="nothing">No evaluation fits.</p>}
      <div className={`items-split${opened !== null ? " opened" : ""}`}>
        {count > 0 && (
          <VirtualRows
            key={key}
            handle={grid}
            label="Evaluations"
            columns={narrow ? [{ name: "Evaluation" }, { name: "Score", className: "number" }] : [{ name: "Verdict" }, { name: "Question" }, { name: "Target, variant", className: "col-slice" }, { name: "Judge" }, { name: "Score", className: "number" }]}
            count={count}
            rowPx={narrow ? 64 : 36}
            selected={chosen}
            onSelect={select}
            onOpen={open}
            onShown={pages.need}
            row={(place) => {
              const found = pages.row(place);
              return found === null ? null : <Cells one={found} narrow={narrow} />;
            }}
          />
        )}
        {opened !== null && <EvaluationPanel run={run} evaluation={opened} onClose={close} onMove={chosen === null ? null : move} />}
      </div>
    </section>
  );
}

const TONES: Record<string, string> = { PASS: "good", PARTIAL: "doubt", FAIL: "bad" };

export function Verdict({ one }: { one: EvaluationSummary }) {
  if (!one.valid) return <span className="outcome tone-none">– invalid</span>;
  return <span className={`outcome tone-${TONES[one.verdict ?? ""] ?? "none"}`}>{words(one.verdict ?? "none")}</span>;
}

function Cells({ one, narrow }: { one: EvaluationSummary; narrow: boolean }) {
  const score = <div role="gridcell" className="number">{one.overall_score ?? "–"}<span className="quiet small"> of 8</span></div>;
  if (narrow) {
    return (
      <>
        <div role="gridcell">
          <div><Verdict one={one} /> <Inline text={one.question_id} /></div>
          <div className="cut small quiet"><Inline text={`${one.target_model} by ${one.judge_model}`} /></div>
        </div>
        {score}
      </>
    );
  }
  return (
    <>
      <div role="gridcell"><Verdict one={one} /></div>
      <div role="gridcell"><Inline text={one.question_id} /></div>
      <div role="gridcell" className="col-slice"><Inline text={one.target_model} /> <span className="quiet small"><Inline text={one.prompt_variant} /></span></div>
      <div role="gridcell"><Inline text={one.judge_model} />{one.method === "self_judge" && <span className="quiet small"> itself</span>}</div>
      {score}
    </>
  );
}
