import { API } from "../api/client";
import { useAnswer } from "../api/use-resource";

interface Props {
  url: string;
  name: string;
  small?: boolean;
}

/** A button that saves what an address of the API answers. On a site written as files: where that file was written, too. */
export function Download({ url, name, small = false }: Props) {
  const held = useAnswer(SITE ? url : null, async () => (await import("../site/answers")).siteFile(url.slice(API.length)));
  const href = SITE ? held.data : url;
  return href === null ? null : (
    <a className={small ? "button small" : "button"} href={href} download>
      {name}
    </a>
  );
}
