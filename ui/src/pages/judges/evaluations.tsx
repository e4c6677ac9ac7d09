import { address, get } from "../../api/client";
import type { EvaluationSummary, JudgesAnswer } from "../../api/types";
import { usePages, type Page } from "../../api/use-pages";
import { Choice } from "../../parts/fields";
import { HowMany, ListKeys, OpeningList } from "../../parts/opening-list";
import { useQuery, valuesOf } from "../../router";
import { Inline } from "../../text/model-text";
import { EvaluationPanel } from "./evaluation-panel";
import { Score, Verdict } from "./verdict";

const SIZE = 100;
const numberOf = (row: EvaluationSummary): number => row.sample;
const FILTERS = ["judge", "target", "variant", "method", "valid"] as const;

const options = (values: readonly string[]) => [{ value: "", text: "Any" }, ...[...new Set(values)].map((one) => ({ value: one, text: one }))];

const COLUMNS = [{ name: "Verdict" }, { name: "Question, variant" }, { name: "Target", className: "col-slice" }, { name: "Judge" }, { name: "Score", className: "number" }];
const NARROW = [{ name: "Evaluation" }, { name: "Score", className: "number" }];

/** Every evaluation; one opens with its quotes marked in the judged text. */
export function Evaluations({ run, judges }: { run: string; judges: JudgesAnswer | null }) {
  const analysis = judges?.analysis;
  const protocol = judges?.protocol ?? null;
  const [query, change] = useQuery();
  const filters = valuesOf(query, FILTERS);
  const filtered = FILTERS.some((name) => filters[name] !== "");
  const url = (page: number) => address("/evaluations", { run, ...filters, offset: page * SIZE, limit: SIZE });
  const key = url(0);
  const pages = usePages<EvaluationSummary>(key, SIZE, async (page, signal): Promise<Page<EvaluationSummary>> => {
    const found = await get(url(page), signal);
    return { rows: found.evaluations, n: found.n };
  });
  const filter = (changes: Record<string, string>) => change({ ...changes, at: null, evaluation: null }, { replace: true });

  return (
    <section className="part evaluations" aria-labelledby="evaluations">
      <div className="page-head">
        <h2 id="evaluations">Evaluations</h2>
        <ListKeys />
        <HowMany count={pages.count} filtered={filtered} />
      </div>
      <div className="filters">
        <Choice label="Judge" value={filters.judge} options={options(analysis?.judges.map((one) => one.judge_model) ?? [])} onChange={(judge) => filter({ judge })} />
        <Choice label="Target" value={filters.target} options={options(analysis?.targets.map((one) => one.target_model) ?? [])} onChange={(target) => filter({ target })} />
        <Choice label="Variant" value={filters.variant} options={options(analysis?.targets.map((one) => one.prompt_variant) ?? [])} onChange={(variant) => filter({ variant })} />
        <Choice label="Method" value={filters.method} options={[{ value: "", text: "Any" }, { value: "cross_judge", text: "Cross-judging" }, { value: "self_judge", text: "Self-judging" }]} onChange={(method) => filter({ method })} />
        <Choice label="Validity" value={filters.valid} options={[{ value: "", text: "Any" }, { value: "true", text: "Valid" }, { value: "false", text: "Invalid" }]} onChange={(valid) => filter({ valid })} />
      </div>
      <OpeningList
        label="Evaluations"
        name="evaluation"
        listKey={key}
        pages={pages}
        numberOf={numberOf}
        inOrder={!filtered}
        nothing="No evaluation fits."
        columns={COLUMNS}
        narrowColumns={NARROW}
        cells={(one, narrow) => <Cells one={one} highest={protocol?.highest} narrow={narrow} />}
        panel={(opened, onClose, onMove) => <EvaluationPanel run={run} protocol={protocol} evaluation={opened} onClose={onClose} onMove={onMove} />}
      />
    </section>
  );
}

function Cells({ one, highest, narrow }: { one: EvaluationSummary; highest: number | undefined; narrow: boolean }) {
  const score = <div role="gridcell" className="number"><Score found={one.overall_score} highest={highest} /></div>;
  if (narrow) {
    return (
      <>
        <div role="gridcell">
          <div><Verdict one={one} /> <Inline text={one.question_id} /> <span className="quiet small"><Inline text={one.prompt_variant} /></span></div>
          <div className="cut small quiet"><Inline text={`${one.target_model} by ${one.judge_model}`} /></div>
        </div>
        {score}
      </>
    );
  }
  return (
    <>
      <div role="gridcell"><Verdict one={one} /></div>
      <div role="gridcell"><Inline text={one.question_id} /> <span className="quiet small"><Inline text={one.prompt_variant} /></span></div>
      <div role="gridcell" className="col-slice"><Inline text={one.target_model} /></div>
      <div role="gridcell"><Inline text={one.judge_model} />{one.method === "self_judge" && <span className="quiet small"> itself</span>}</div>
      {score}
    </>
  );
}
