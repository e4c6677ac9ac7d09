import { useState } from "react";
import { address, ApiError, send } from "../api/client";
import { navigate } from "../router";
import { Inline } from "../text/model-text";

/** A token is asked for where the server listens to more than this machine. */
export default function LoginPage() {
  const [token, setToken] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const login = () => {
    setBusy(true);
    send<unknown>("POST", address("/login"), { token }).then(
      () => navigate("/"),
      (reason: unknown) => {
        setBusy(false);
        setError(reason instanceof ApiError ? reason : new ApiError(0, String(reason), null));
      },
    );
  };
  return (
    <form
      className="login card"
      onSubmit={(event) => {
        event.preventDefault();
        login();
      }}
    >
      <h1>Log in</h1>
      <p>This server asks for a token. Whoever runs it makes one: <code>benchbook token create</code>.</p>
      <div className="field">
        <label htmlFor="token">Token</label>
        <input id="token" type="password" autoComplete="off" required value={token} onChange={(event) => setToken(event.target.value)} />
      </div>
      {error !== null && (
        <p role="alert" className="wrong">
          <Inline text={error.status === 401 ? "That token is not known here, or was revoked." : `${error.message} ${error.detail ?? ""}`} />
        </p>
      )}
      <button type="submit" className="primary" disabled={busy || token === ""}>Log in</button>
    </form>
  );
}
