import { useMemo, useState, type ReactNode } from "react";
import { count } from "../numbers";
import { markdown, type Block, type Inline } from "./markdown";
import { cut, Pieces } from "./model-text";

const SHOWN = 20_000; // characters at first, and at each further step

/** A model's text as it may be meant: JSON by its lines, else Markdown. Nothing in it leads anywhere or is fetched. */
export function Rendered({ text, label }: { text: string; label: string }) {
  const [shown, setShown] = useState(SHOWN);
  const json = useMemo(() => prettyJson(text), [text]);
  const whole = json ?? text;
  const part = cut(whole, shown);
  const blocks = useMemo(() => (json === null ? markdown(part) : []), [json, part]);
  return (
    <div className={`model-text rendered${json === null ? "" : " json"}`} dir="auto" role="group" aria-label={label} tabIndex={0}>
      {json === null ? <Blocks of={blocks} /> : <Pieces text={part} />}
      {whole.length > shown && (
        <p className="more">
          <button type="button" onClick={() => setShown(shown * 4)}>
            Show more of {count(whole.length)} characters
          </button>
        </p>
      )}
    </div>
  );
}

/** JSON with a line for each value; null for a text that is none, or only a number or a word. */
export function prettyJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

function Blocks({ of }: { of: readonly Block[] }) {
  return of.map((block, place) => <OneBlock key={place} block={block} />);
}

function OneBlock({ block }: { block: Block }): ReactNode {
  switch (block.kind) {
    case "heading": // no heading of the page's
      return <p className={`md-heading md-${Math.min(block.level, 4)}`}><Inlines of={block.of} /></p>;
    case "paragraph":
      return <p><Inlines of={block.of} /></p>;
    case "code":
      return <pre><code><Pieces text={block.text} /></code></pre>;
    case "quote":
      return <blockquote><Blocks of={block.of} /></blockquote>;
    case "rule":
      return <hr />;
    case "list": {
      const items = block.items.map((item, place) => <li key={place}><Blocks of={item} /></li>);
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
    }
    case "table":
      return (
        <table>
          <tbody>
            {block.rows.map((row, number) => (
              <tr key={number}>{row.map((cell, place) => (number === 0 ? <th key={place}><Inlines of={cell} /></th> : <td key={place}><Inlines of={cell} /></td>))}</tr>
            ))}
          </tbody>
        </table>
      );
  }
}

function Inlines({ of }: { of: readonly Inline[] }) {
  return of.map((one, place) => <OneInline key={place} one={one} />);
}

function OneInline({ one }: { one: Inline }): ReactNode {
  if (typeof one === "string") return <Pieces text={one} />;
  switch (one.kind) {
    case "code":
      return <code><Pieces text={one.text} /></code>;
    case "strong":
      return <strong><Inlines of={one.of} /></strong>;
    case "em":
      return <em><Inlines of={one.of} /></em>;
    case "struck":
      return <s><Inlines of={one.of} /></s>;
    case "link":
    case "picture": // an address is text like any other
      return (
        <span className="md-address">
          {one.kind === "picture" && "picture: "}<Inlines of={one.of} /> <bdi className="quiet">({<Pieces text={one.to} />})</bdi>
        </span>
      );
  }
}
