import { describe, expect, it } from "vitest";
import { cut, mayScroll } from "./model-text";
import { lineEnds, oneLine, visible, visiblePieces } from "./visible";

describe("visible", () => {
  // The same cases as benchbook.text.visible: what a terminal or a bidi-aware view would act upon becomes an escape.
  it.each([
    ["plain", "plain"],
    ["tab\tand\nline stay", "tab\tand\nline stay"],
    ["\u001b[31mred", "\\u001b[31mred"],
    ["a\u202eb\u2066c", "a\\u202eb\\u2066c"],
    ["\ud835", "\\ud835"],
    ["\udc00x", "\\udc00x"],
    ["😀", "😀"],
    ["a\ud83d\ude00\ud83d", "a😀\\ud83d"],
    ["\r\u0085", "\\u000d\\u0085"],
    ["a\u200bb\ufeff\u00ad", "a\\u200bb\\ufeff\\u00ad"],
    ["a\u200db", "a\\u200db"],
    ["می\u200cخواهم", "می\u200cخواهم"],
    ["क्\u200dष", "क्\u200dष"],
    ["भा\u200c\u200c", "भा\u200c\\u200c"],
    ["👩🏽\u200d🚀 👁\ufe0f\u200d🗨\ufe0f", "👩🏽\u200d🚀 👁\ufe0f\u200d🗨\ufe0f"],
    ["👍\ufe0f\ufe0f", "👍\ufe0f\\ufe0f"],
    ["1\ufe0f\u20e3 1\ufe0f", "1\ufe0f\u20e3 1\\ufe0f"],
    ["ខ្មែរ\u200bភាសា", "ខ្មែរ\u200bភាសា"],
    ["\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"],
    ["x\u{e0041}\u{e007f}", "x\\U000e0041\\U000e007f"],
    ["葛\u{e0100} a\u{e0100}", "葛\u{e0100} a\\U000e0100"],
  ])("%j", (text, wanted) => expect(visible(text)).toBe(wanted));

  it("keeps escapes apart from text that looks like them", () =>
    expect(visiblePieces("\\u202e\u202e")).toEqual([
      { text: "\\u202e", escape: false },
      { text: "\\u202e", escape: true },
    ]));
});

describe("oneLine", () => {
  it("makes white space one space", () => expect(oneLine(" a\n\n b\t")).toBe("a b"));
  it("cuts with an ellipsis", () => expect(oneLine("abcdef", 4)).toBe("abc…"));
  it("never cuts a pair in two", () => expect(oneLine("ab😀cd", 4)).toBe("ab…"));
  it("is quick on a long line", () => expect(oneLine("x".repeat(5_000_000), 10)).toBe("xxxxxxxxx…"));
});

it("a line end of Windows is one, a lone carriage return is seen", () => {
  expect(visiblePieces(lineEnds("a\r\nb\rc"))).toEqual([
    { text: "a\nb", escape: false },
    { text: "\\u000d", escape: true },
    { text: "c", escape: false },
  ]);
});

it.each([
  ["short", false],
  ["x".repeat(601), true],
  ["line\n".repeat(13), false],
  ["line\n".repeat(14), true],
  ["x".repeat(420), false],
  [`${"x".repeat(400)}\n`, true],
])("a text that may be taller than its box takes the focus", (text, wanted) => expect(mayScroll(text)).toBe(wanted));

it("cut never leaves half a pair", () => {
  expect(cut("ab😀", 3)).toBe("ab");
  expect(cut("ab😀", 4)).toBe("ab😀");
});
