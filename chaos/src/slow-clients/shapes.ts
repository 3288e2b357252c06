/** Returns fifty texts of about `length` characters. Every operation must reject each of them. */
export function malformedShapes(length: number): string[] {
  const fill = (begin: string, piece: string, end = "") =>
    begin + piece.repeat(Math.max(1, Math.floor((length - begin.length - end.length) / piece.length))) + end;
  const numbered = (piece: (i: number) => string, begin: string, end: string) => {
    let text = begin;
    for (let i = 0; text.length < length - 30; i++) text += piece(i);
    return text + end;
  };
  const starts = ['{"a":tru,"', '{"a":nul,"', '{"a":01,"', '{"a":"\\x","', '{"a":-,"', '{"a":1.,"', '{"a":1e,"'];
  return [
    ...starts.flatMap((start) => [fill(start, '\\"'), fill(start, '"'), fill(start, "\\\\")]),
    ...[
      '"',
      "\\",
      '\\"',
      "\n",
      "\t",
      " ",
      "a",
      "\\u00",
      "\\ud800",
      "\u0000",
      "é",
      "{",
      "[",
      '{"a":',
      "[{",
      "-",
      "1",
      "1,",
      ",",
      ":",
    ].map((piece) => fill('{"a":"b",', piece)),
    fill('{"a":', "[", "]"),
    fill('{"a":', "1", "}"),
    fill('{"a":0.', "0", "}"),
    fill('{"a":1e', "9", "}"),
    fill('{"a":"', "\\u0061", '"'),
    fill("", " ", "x"),
    numbered((i) => `"f${i}":1,`, "{", '"z":1}'),
    numbered(() => '"same":1,', "{", '"same":1}'),
    numbered((i) => `{"a${i}":`, "", ""),
  ];
}
