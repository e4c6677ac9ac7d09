import { useCallback, useRef, type KeyboardEvent } from "react";
import { address } from "../../api/client";
import type { HistoryRow } from "../../api/types";
import { usePages } from "../../api/use-pages";
import { useResource } from "../../api/use-resource";
import { counted } from "../../format";
import { count as written } from "../../numbers";
import { HISTORIES } from "../../words";
import { SearchField } from "../../parts/fields";
import { Failed, Loading } from "../../parts/states";
import { useMedia } from "../../parts/use-media";
import { VirtualRows, type RowsHandle } from "../../parts/virtual-rows";
import { placeOf, useQuery } from "../../router";
import { Inline } from "../../text/model-text";
import { oneLine } from "../../text/visible";
import { useLanding } from "../../parts/use-landing";
import { PanelPlace } from "../../parts/panel";
import { historyPage, historyUrl, ITEMS_PAGE } from "./endpoints";
import { ItemPanel } from "./item-panel";
import { LETTERS } from "./state";

const NAMES: readonly HistoryRow["history"][] = ["learned", "forgotten", "flipping", "always_correct", "never_correct"];

/** Each item's way through three or more runs, in the order they are given. */
export function History({ runs }: { runs: readonly string[] }) {
  const [query, change] = useQuery();
  const by = query.get("by") === "contained" ? "contained" : "correct";
  const params = { by, history: query.get("history") ?? "", text: query.get("htext") ?? "" };
  const summary = useResource(address("/comparisons/history/summary", { run: runs, by }));
  const pages = usePages<HistoryRow>(historyUrl(runs, params, 0, ITEMS_PAGE), ITEMS_PAGE, (page, signal) => historyPage(runs, params, page, signal));
  const narrow = useMedia("(max-width: 46rem)");
  const count = pages.count ?? 0;
  const at = placeOf(query.get("hat"));
  const { row: rowAt } = pages;
  const opened = placeOf(query.get("hitem")); // its position in the list of the first two runs
  const open = useCallback(
    (row: number) => {
      const item = rowAt(row)?.item ?? null;
      change({ hat: String(row), hitem: item === null ? null : String(item) }, { replace: true });
    },
    [change, rowAt],
  );
  const select = useCallback((row: number) => (opened === null ? change({ hat: String(row) }, { replace: true }) : open(row)), [change, open, opened]);
  const grid = useRef<RowsHandle>(null);
  const aside = useRef<HTMLElement>(null);
  useLanding(aside, opened, narrow);
  const close = () => {
    change({ hitem: null }, { replace: true });
    grid.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || opened === null) return;
    event.preventDefault(); // the items above have the key otherwise
    close();
  };
  const error = summary.error ?? pages.error;

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape closes what the list in it opened
    <section className="part history" aria-labelledby="history" onKeyDown={onKeyDown}>
      <h2 id="history">Each item over the runs</h2>
      {error !== null && <Failed error={error} what="history" />}
      {summary.data === null && error === null && <Loading what="the history" />}
      {summary.data !== null && (
        <>
          <p className="quiet">
            {runs.map((_, place) => `${LETTERS[place]} ${written(summary.data!.n_right[place])}`).join(", ")} right
            {by === "contained" ? ", or with the expected answer inside the text" : ""}; {counted(summary.data.n_left_out, "item")} left out that not every run has, asks alike and scored.
          </p>
          <div className="class-buttons" role="group" aria-label="History">
            <button type="button" aria-pressed={params.history === ""} onClick={() => change({ history: null, hat: null, hitem: null }, { replace: true })}>
              All
            </button>
            {NAMES.map((name) => (
              <button key={name} type="button" aria-pressed={params.history === name} onClick={() => change({ history: params.history === name ? null : name, hat: null, hitem: null }, { replace: true })}>
                {HISTORIES[name]} <span className="number quiet">{written(summary.data!.counts[name] ?? 0)}</span>
              </button>
            ))}
            <button type="button" aria-pressed={by === "contained"} onClick={() => change({ by: by === "contained" ? null : "contained", hat: null, hitem: null }, { replace: true })}>
              Count contained answers
            </button>
          </div>
          <div className="filters">
            <SearchField label="Text" value={params.text} placeholder="in prompt or id" onChange={(text) => change({ htext: text, hat: null, hitem: null }, { replace: true })} />
          </div>
        </>
      )}
      {pages.count !== null && count === 0 && <p className="nothing">No item fits.</p>}
      {count > 0 && (
        <div className="history-rows">
          <VirtualRows
            label="Items over the runs"
            columns={[{ name: "History" }, { name: runs.map((_, place) => LETTERS[place]).join(" ") }, { name: "Item" }, ...(narrow ? [] : [{ name: "Prompt" }])]}
            count={count}
            rowPx={36}
            handle={grid}
            selected={at !== null && at < count ? at : null}
            onSelect={select}
            onOpen={open}
            onShown={pages.need}
            row={(place) => {
              const found = pages.row(place);
              return found === null ? null : <HistoryCells item={found} narrow={narrow} />;
            }}
          />
        </div>
      )}
      {opened !== null && (
        <PanelPlace value={aside}>
          <ItemPanel runs={runs} a={runs[0]!} b={runs[1]!} position={opened} letters={[LETTERS[0]!, LETTERS[1]!]} onClose={close} onMove={at === null || count === 0 ? null : (step) => open(Math.min(Math.max(at + step, 0), count - 1))} />
        </PanelPlace>
      )}
    </section>
  );
}

function HistoryCells({ item, narrow }: { item: HistoryRow; narrow: boolean }) {
  const marks = item.marks.split("");
  return (
    <>
      <div role="gridcell" className="small">
        {HISTORIES[item.history].split(":")[0]}
      </div>
      <div role="gridcell">
        <span className="unseen">{marks.map((mark, place) => `${LETTERS[place]} ${mark === "1" ? "right" : "wrong"}`).join(", ")}</span>
        <span className="marks" aria-hidden="true">
          {marks.map((mark, place) => (
            <span key={place} className={mark === "1" ? "right" : "wrong"}>
              {mark === "1" ? "✓" : "·"}
            </span>
          ))}
        </span>
      </div>
      <div role="gridcell">
        <Inline text={item.item_id} />
      </div>
      {!narrow && (
        <div role="gridcell">
          <bdi>{oneLine(item.prompt ?? "", 200)}</bdi>
        </div>
      )}
    </>
  );
}
