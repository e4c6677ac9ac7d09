import { describe, expect, it } from "vitest";
import { inlines, markdown } from "./markdown";
import { prettyJson } from "./rendered";

describe("inlines", () => {
  it.each([
    ["plain", "a < b", ["a < b"]],
    ["strong and em", "**a** *b* _c_", [{ kind: "strong", of: ["a"] }, " ", { kind: "em", of: ["b"] }, " ", { kind: "em", of: ["c"] }]],
    ["within one another", "**a *b***", [{ kind: "strong", of: ["a ", { kind: "em", of: ["b"] }] }]],
    ["stars that multiply", "2 * 3 * 4", ["2 * 3 * 4"]],
    ["names with underscores", "snake_case_name", ["snake_case_name"]],
    ["code keeps its marks", "`a **b**` c", [{ kind: "code", text: "a **b**" }, " c"]],
    ["code with a tick in it", "``a`b``", [{ kind: "code", text: "a`b" }]],
    ["what nothing closes", "**a `b", ["**a `b"]],
    ["escapes", "\\*a\\* \\d", ["*", "a", "*", " \\d"]],
    ["a link is text", "[x](javascript:y) z", [{ kind: "link", of: ["x"], to: "javascript:y" }, " z"]],
    ["a picture is text", "![x](http://z/y.png)", [{ kind: "picture", of: ["x"], to: "http://z/y.png" }]],
    ["HTML stays", "<b>x</b>", ["<b>x</b>"]],
  ])("%s", (_, text, wanted) => expect(inlines(text)).toEqual(wanted));

  it("is quick whatever is not closed", () => {
    for (const mark of ["*", "**", "_", "`", "[", "![", "~~", "*a", "[a]("]) {
      const began = performance.now();
      inlines(mark.repeat(Math.floor(20_000 / mark.length)));
      expect(performance.now() - began).toBeLessThan(2_000);
    }
  });
});

const kinds = (text: string) => markdown(text).map((block) => block.kind);

describe("markdown", () => {
  it.each([
    ["# a\ntext\n\n---\n> b", ["heading", "paragraph", "rule", "quote"]],
    ["```py\n# no heading\n```\nafter", ["code", "paragraph"]],
    ["```\nnever closed", ["code"]],
    ["| a | b |\n|---|---|\n| 1 | 2 |\nend", ["table", "paragraph"]],
    ["a | b\nno delimiters", ["paragraph"]],
    ["text\n- a\n- b", ["paragraph", "list"]],
    ["", []],
  ])("%j", (text, wanted) => expect(kinds(text)).toEqual(wanted));

  it("lists hold lists", () =>
    expect(markdown("3. a\n   - b\n   - c\n4. d")).toEqual([
      {
        kind: "list",
        start: 3,
        items: [
          [
            { kind: "paragraph", of: ["a"] },
            { kind: "list", start: null, items: [[{ kind: "paragraph", of: ["b"] }], [{ kind: "paragraph", of: ["c"] }]] },
          ],
          [{ kind: "paragraph", of: ["d"] }],
        ],
      },
    ]));

  it("code keeps its lines", () => expect(markdown("```\na\n  b\n```")).toEqual([{ kind: "code", text: "a\n  b" }]));
  it("is bounded however deep it goes", () => expect(markdown(`${"> ".repeat(5_000)}x`)).toHaveLength(1));
});

it.each([
  ['{"a":[1,2]}', '{\n  "a": [\n    1,\n    2\n  ]\n}'],
  ["[1] is a footnote", null],
  ["12", null],
])("%j as JSON", (text, wanted) => expect(prettyJson(text)).toBe(wanted));
