/** Returns fifty malformed texts of about `length` characters. Every operation must reject them. */
export function createMalformedBodies(length: number): string[] {
  const repeatPiece = (begin: string, piece: string, end = "") =>
    begin + piece.repeat(Math.max(1, Math.floor((length - begin.length - end.length) / piece.length))) + end;
  const repeatNumbered = (piece: (i: number) => string, begin: string, end: string) => {
    let text = begin;
    for (let i = 0; text.length < length - 30; i++) text += piece(i);
    return text + end;
  };
  const brokenStarts = ['{"a":tru,"', '{"a":nul,"', '{"a":01,"', '{"a":"\\x","', '{"a":-,"', '{"a":1.,"', '{"a":1e,"'];
  return [
    ...brokenStarts.flatMap((start) => [repeatPiece(start, '\\"'), repeatPiece(start, '"'), repeatPiece(start, "\\\\")]),
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
    ].map((piece) => repeatPiece('{"a":"b",', piece)),
    repeatPiece('{"a":', "[", "]"),
    repeatPiece('{"a":', "1", "}"),
    repeatPiece('{"a":0.', "0", "}"),
    repeatPiece('{"a":1e', "9", "}"),
    repeatPiece('{"a":"', "\\u0061", '"'),
    repeatPiece("", " ", "x"),
    repeatNumbered((i) => `"f${i}":1,`, "{", '"z":1}'),
    repeatNumbered(() => '"same":1,', "{", '"same":1}'),
    repeatNumbered((i) => `{"a${i}":`, "", ""),
  ];
}
