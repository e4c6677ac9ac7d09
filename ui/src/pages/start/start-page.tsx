import { useState } from "react";
import { address, errorOf, send, type ApiError } from "../../api/client";
import type { AllowedConfig, ConfigForecast } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { show } from "../../numbers";
import { Empty, Failed, Loading } from "../../parts/states";
import { navigate, runAddress, useQuery } from "../../router";
import { Inline } from "../../text/model-text";

/** A run is started from a config that lies with the server, and asks whom its owner allows. */
export default function StartPage() {
  const [query, change] = useQuery();
  const list = useResource(address("/configs"));
  const chosen = query.get("config") ?? "";
  if (list.error !== null) return <Failed error={list.error} again={list.again} what="list of configs" />;
  if (list.data === null) return <Loading what="configs" />;
  const { configs, asks, why_none } = list.data;
  const config = configs.find((one) => one.name === chosen) ?? null;
  return (
    <>
      <div className="page-head">
        <h1>Start a run</h1>
      </div>
      <p className="quiet"><Inline text={`${asks.charAt(0).toUpperCase()}${asks.slice(1)}.`} /></p>
      {why_none !== null ? (
        <Empty title="There is nothing to start from">
          <p><Inline text={why_none} /></p>
        </Empty>
      ) : (
        <fieldset className="configs">
          <legend>Configs</legend>
          {configs.map((one) => (
            <Choice key={one.name} config={one} chosen={one.name === chosen} onChoose={() => change({ config: one.name }, { replace: true })} />
          ))}
        </fieldset>
      )}
      {config !== null && config.problem === null && <Start key={config.name} config={config} />}
    </>
  );
}

function Choice({ config, chosen, onChoose }: { config: AllowedConfig; chosen: boolean; onChoose: () => void }) {
  return (
    <label className={`config card${chosen ? " chosen" : ""}`}>
      <input type="radio" name="config" checked={chosen} disabled={config.problem !== null} onChange={onChoose} />
      <span className="strong"><Inline text={config.name} /></span>
      <span className="small">
        <Inline text={config.evalset ?? "–"} /> · <Inline text={config.model ?? "–"} /> · <Inline text={config.spec ?? "–"} />
        {config.judges.length > 0 && <> · judged by <Inline text={config.judges.join(", ")} /></>}
      </span>
      {config.problem !== null && <span className="wrong small">Can't be started: <Inline text={config.problem} /></span>}
    </label>
  );
}

/** What it would ask and cost, and the button that does it. */
function Start({ config }: { config: AllowedConfig }) {
  const forecast = useResource(address("/configs/forecast", { name: config.name }));
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<ApiError | null>(null);
  const start = () => {
    setBusy(true);
    setWrong(null);
    send("POST /runs", {}, { config: config.config }).then(
      ({ run_id }) => navigate(runAddress(run_id)),
      (error: unknown) => {
        setBusy(false);
        setWrong(errorOf(error));
      },
    );
  };
  return (
    <section className="part" aria-label="Forecast">
      {forecast.error !== null && <Failed error={forecast.error} again={forecast.again} what="forecast" />}
      {forecast.loading && <Loading what="the forecast" />}
      {forecast.data !== null && <Forecast found={forecast.data} />}
      {wrong !== null && <Failed error={wrong} what="run" title="The run was not started" />}
      <p className="actions">
        <button type="button" className="primary" disabled={busy || forecast.data === null} onClick={start}>
          {busy ? "Starting …" : "Start this run"}
        </button>
      </p>
    </section>
  );
}

function Forecast({ found }: { found: ConfigForecast }) {
  const limit = found.max_cost_usd === null ? "" : `; it stops at ${show("usd", found.max_cost_usd)}`;
  return (
    <>
      {found.asked.map((line) => <p key={line}><Inline text={line} /></p>)}
      <p>{found.most_cost_usd === null ? "No price is set, so that nobody knows its cost" : `At most ${show("usd", found.most_cost_usd)}`}{limit}.</p>
      {found.warnings.map((line) => <p key={line} className="small"><Inline text={line} /></p>)}
    </>
  );
}
