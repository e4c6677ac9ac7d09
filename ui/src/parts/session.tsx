import { address, get, send } from "../api/client";
import { useAnswer } from "../api/use-resource";
import { Inline } from "../text/model-text";
import { Link } from "./link";

interface Me {
  name: string;
  scopes: string[];
  login_needed: boolean;
}

/** Who is logged in; nothing where the server listens to this machine alone and asks nobody. */
export function Session({ path }: { path: string }) {
  const place = path === "/login" ? "login" : "page"; // after logging in it is asked again
  const { data } = useAnswer<Me>(place, (signal) => get<Me>(address("/me"), signal));
  if (data === null) return null;
  if (data.login_needed) return path === "/login" ? null : <Link to="/login" className="who">Log in</Link>;
  if (!document.cookie.includes("benchbook_csrf=")) return null;
  return (
    <span className="who">
      <Inline text={data.name} />{" "}
      <button type="button" className="plain" onClick={() => void send("POST", address("/logout")).finally(() => window.location.assign("/login"))}>
        Log out
      </button>
    </span>
  );
}
