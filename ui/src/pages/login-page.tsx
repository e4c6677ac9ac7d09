import { useState } from "react";
import { errorOf, send, sentenceOf, type ApiError } from "../api/client";
import { useMe } from "../api/use-me";
import { Link } from "../parts/link";
import { Empty } from "../parts/states";
import { backFromLogin, navigate, useQuery } from "../router";
import { Inline } from "../text/model-text";

/** A token is asked for where the server listens to more than this machine. */
export default function LoginPage() {
  const [query] = useQuery();
  const { data: me } = useMe();
  const [token, setToken] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const back = backFromLogin(query.get("to"));
  const login = () => {
    setBusy(true);
    send("POST /login", {}, { token: token.trim() }).then(
      () => navigate(back, { replace: true }), // back in the browser's history leads past the login
      (reason: unknown) => {
        setBusy(false);
        setError(errorOf(reason));
      },
    );
  };
  if (me?.via === "local") return <NoLogin />;
  return (
    <form
      className="login card"
      onSubmit={(event) => {
        event.preventDefault();
        login();
      }}
    >
      <h1>Log in</h1>
      {me?.via === "cookie" ? (
        <p>You are logged in as <Inline text={me.name} />. <Link to={back}>Go on</Link>, or log in with another token.</p>
      ) : (
        <p>This server asks for a token. Whoever runs it makes one: <code>benchbook token create --name NAME --scope read</code>.</p>
      )}
      <div className="field">
        <label htmlFor="token">Token</label>
        {/* oxlint-disable-next-line jsx-a11y/no-autofocus -- there is nothing else to do here */}
        <input id="token" type="password" autoComplete="off" autoFocus required aria-describedby={error === null ? undefined : "wrong"} aria-invalid={error !== null} value={token} onChange={(event) => setToken(event.target.value)} />
      </div>
      {error !== null && (
        <p id="wrong" role="alert" className="wrong">
          <Inline text={error.status === 401 ? "That token is not known here, or was revoked." : sentenceOf(error)} />
        </p>
      )}
      <button type="submit" className="primary" disabled={busy || token.trim() === ""}>Log in</button>
    </form>
  );
}

function NoLogin() {
  return (
    <Empty title="No login is needed" top>
      <p>
        This server answers its own machine alone, and asks nobody who they are. <Link to="/">All runs</Link>
      </p>
    </Empty>
  );
}
