import { expect, it } from "vitest";
import { firstOfEachKind, markedPieces } from "./marks";

it.each([
  ["nothing quoted", "abc", [], [["abc", []]]],
  ["one quote", "abcdef", [[[1, 3]]], [["a", []], ["bc", [0]], ["def", []]]],
  ["quotes over one another", "abcdef", [[[0, 4]], [[2, 6]]], [["ab", [0]], ["cd", [0, 1]], ["ef", [1]]]],
  ["a quote in two fragments", "abcdef", [[[0, 1], [5, 6]]], [["a", [0]], ["bcde", []], ["f", [0]]]],
  ["a span beyond the text", "abc", [[[2, 99]]], [["ab", []], ["c", [0]]]],
  ["an empty text", "", [[]], []],
] as const)("%s", (_, text, quotes, wanted) => {
  const spans = quotes.map((one) => one.map(([start, end]) => ({ start, end })));
  expect(markedPieces(text, spans).map((piece) => [piece.text, piece.quotes])).toEqual(wanted);
});

it("gives words to the first mark of a kind", () => {
  const marks = [null, "word", "number", "word", null].map((within) => ({ within }));
  expect([...firstOfEachKind(marks)]).toEqual([marks[0], marks[1], marks[2]]);
});
