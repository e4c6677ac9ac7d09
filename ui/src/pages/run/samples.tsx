import { useRef } from "react";
import { address, get } from "../../api/client";
import type { ImportedLog, SampleRow } from "../../api/types";
import { usePages, type Page } from "../../api/use-pages";
import { Download } from "../../parts/download";
import { Choice, SearchField } from "../../parts/fields";
import { HowMany, ListKeys, OpeningList } from "../../parts/opening-list";
import { useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { oneLine } from "../../text/visible";
import { reasonWords } from "../../format";
import { show } from "../../numbers";
import { SamplePanel } from "./sample-panel";

const SIZE = 100;
const numberOf = (row: SampleRow): number => row.sample;
const FILTERS = ["outcome", "text", "reason"] as const;
const OUTCOMES = [
  { value: "", text: "Any" },
  { value: "passed", text: "right, or passed" },
  { value: "failed", text: "wrong, or failed" },
  { value: "unscored", text: "without a score" },
];

const COLUMNS = [{ name: "Item" }, { name: "Slice", className: "col-slice" }, { name: "Answer" }, { name: "Why", className: "col-slice" }, { name: "Score", className: "number" }];
const NARROW = [{ name: "Sample" }, { name: "Score", className: "number" }];

interface Props {
  id: string;
  judged: boolean;
  log: ImportedLog | null; // that the run was imported from
  whys: readonly { value: string; text: string }[]; // why samples have no score
}

/** Every sample of a run; one opens beside the list with all that is known of it. */
export function Samples({ id, judged, log, whys }: Props) {
  const [query, change] = useQuery();
  const filters = { outcome: query.get("outcome") ?? "", text: query.get("text") ?? "", reason: query.get("reason") ?? "" };
  const filtered = FILTERS.some((name) => filters[name] !== "");
  const search = useRef<HTMLInputElement>(null);
  const url = (page: number) => address("/runs/{run_id}/samples", { run_id: id, ...filters, offset: page * SIZE, limit: SIZE });
  const key = url(0);
  const pages = usePages<SampleRow>(key, SIZE, async (page, signal): Promise<Page<SampleRow>> => {
    const found = await get(url(page), signal);
    return { rows: found.samples, n: found.n };
  });
  const filter = (changes: Record<string, string>) => change({ ...changes, at: null, sample: null }, { replace: true });

  return (
    <section className="part samples" aria-labelledby="samples">
      <div className="page-head">
        <h2 id="samples">Samples</h2>
        <ListKeys search />
        <div className="actions">
          <HowMany count={pages.count} filtered={filtered} />
          <Download url={address("/runs/{run_id}/samples.csv", { run_id: id })} name="CSV" />
          <Download url={address("/runs/{run_id}/samples.ndjson", { run_id: id })} name="NDJSON" />
          <Download url={address("/runs/{run_id}/samples.parquet", { run_id: id })} name="Parquet" />
        </div>
      </div>
      <form className="filters" role="search" aria-label="Samples" onSubmit={(event) => event.preventDefault()}>
        <SearchField label="Text" inputRef={search} value={filters.text} placeholder="in prompt, answer or id" onChange={(text) => filter({ text })} />
        <Choice label="Outcome" value={filters.outcome} options={OUTCOMES} onChange={(outcome) => filter({ outcome })} />
        {(whys.length > 0 || filters.reason !== "") && <Choice label="Why without a score" value={filters.reason} options={[{ value: "", text: "Any" }, ...whys]} onChange={(reason) => filter({ reason })} />}
      </form>
      <OpeningList
        label="Samples"
        name="sample"
        listKey={key}
        pages={pages}
        numberOf={numberOf}
        search={search}
        inOrder={!filtered}
        nothing="No sample fits."
        columns={COLUMNS}
        narrowColumns={NARROW}
        cells={(sample, narrow) => <SampleCells sample={sample} narrow={narrow} />}
        panel={(opened, onClose, onMove) => <SamplePanel id={id} sample={opened} judged={judged} log={log} onClose={onClose} onMove={onMove} />}
      />
    </section>
  );
}

function SampleCells({ sample, narrow }: { sample: SampleRow; narrow: boolean }) {
  const score = (
    <div role="gridcell" className="number">
      <span className={`outcome tone-${sample.score === null ? "doubt" : sample.passed ? "good" : "bad"}`}>
        <span aria-hidden="true">{sample.score === null ? "?" : sample.passed ? "✓" : "✕"}</span>{" "}
        {sample.score === null ? "unscored" : show("score", sample.score)}
      </span>
    </div>
  );
  const name = (
    <>
      <Inline text={sample.item_id} />
      {sample.repeat > 0 && <span className="quiet small"> repeat {sample.repeat + 1}</span>}
    </>
  );
  const text = sample.text === null ? <span className="nothing">no answer</span> : <bdi>{oneLine(sample.text, 200)}</bdi>;
  if (narrow) {
    return (
      <>
        <div role="gridcell">
          <div>{name}</div>
          <div className="cut quiet">{text}</div>
        </div>
        {score}
      </>
    );
  }
  return (
    <>
      <div role="gridcell">{name}</div>
      <div role="gridcell" className="col-slice small quiet">
        <Inline text={[sample.section, sample.category, sample.difficulty].filter((one) => one !== null).join(" · ")} />
      </div>
      <div role="gridcell">{text}</div>
      <div role="gridcell" className="col-slice small quiet">{sample.reasons.map(reasonWords).join(", ")}</div>
      {score}
    </>
  );
}
