import { send } from "../api/client";
import { useMe } from "../api/use-me";
import { outer } from "../base";
import { loginAddress } from "../router";
import { Inline } from "../text/model-text";
import { Link } from "./link";

/** Who is logged in; nothing where the server listens to this machine alone and asks nobody. */
export function Session({ path }: { path: string }) {
  const { data } = useMe(path); // asked at each page: after a login somebody else is there, and a session may have ended
  if (data === null) return null;
  if (data.login_needed) return path === "/login" ? null : <Link to={loginAddress()} className="who">Log in</Link>;
  if (data.via !== "cookie") return null;
  return (
    <span className="who">
      <Inline text={data.name} />{" "}
      <button type="button" className="plain" onClick={() => void send("POST /logout", {}).finally(() => window.location.assign(outer("/login")))}>
        Log out
      </button>
    </span>
  );
}
