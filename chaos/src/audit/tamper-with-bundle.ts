import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../random.ts";

type Change = (folder: string, random: Random, other: string) => string;

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");
const writeLines = (path: string, lines: readonly string[]) => writeFileSync(path, lines.map((line) => `${line}\n`).join(""));

/** Returns a random file that is not empty. A business may have no events yet. */
function anyFile(folder: string, random: Random): { name: string; path: string } {
  const files = readdirSync(folder).filter((file) => statSync(join(folder, file)).size > 0);
  const name = random.pick(files.sort());
  return { name, path: join(folder, name) };
}

/** Returns a file whose rows are all needed. The verification needs only some heads of a day. */
function anyRows(folder: string, random: Random): { name: string; path: string; lines: string[] } {
  const name = random.pick(["trail.jsonl", "links.jsonl"]);
  const path = join(folder, name);
  return { name, path, lines: linesOf(path) };
}

const changes: readonly Change[] = [
  (folder, random) => {
    const { name, path } = anyFile(folder, random);
    const bytes = readFileSync(path);
    // Changes a letter or digit: a change of the white space between members has no effect.
    const places = [...bytes.keys()].filter((at) => /[a-z0-9]/i.test(String.fromCharCode(bytes[at] ?? 0)));
    const at = random.pick(places);
    bytes[at] = (bytes[at] ?? 0) === 0x37 ? 0x38 : 0x37;
    writeFileSync(path, bytes);
    return `one byte of ${name} changed`;
  },
  (folder, random) => {
    const { name, path, lines } = anyRows(folder, random);
    writeLines(path, lines.toSpliced(random.integer(0, lines.length - 1), 1));
    return `a line of ${name} removed`;
  },
  (folder, random) => {
    const { name, path, lines } = anyRows(folder, random);
    const at = random.integer(0, lines.length - 1);
    writeLines(path, lines.toSpliced(at, 0, lines[at] ?? ""));
    return `a line of ${name} duplicated`;
  },
  (folder, random) => {
    const { name, path, lines } = anyRows(folder, random);
    const at = random.integer(0, lines.length - 2);
    writeLines(path, lines.toSpliced(at, 2, lines[at + 1] ?? "", lines[at] ?? ""));
    return `two lines of ${name} exchanged`;
  },
  (folder, random, other) => {
    // links.jsonl is not exchanged, because the links of a day are the same in all bundles.
    const name = random.pick(["trail.jsonl", "manifest.json", "payments.jsonl", "refunds.jsonl"]);
    const isSame = readFileSync(join(other, name)).equals(readFileSync(join(folder, name)));
    if (isSame) writeFileSync(join(folder, name), "{}\n");
    else cpSync(join(other, name), join(folder, name));
    return `${name} replaced with that of another business or with an empty object`;
  },
  (folder, random) => {
    const { name, path } = anyFile(folder, random);
    rmSync(path);
    return `${name} removed`;
  },
  (folder) => {
    writeFileSync(join(folder, "more.jsonl"), "{}\n");
    return "a file added";
  },
];

/** Copies a bundle, makes one random change to the copy and returns a description of it. */
export function tamperWithBundle(bundle: string, to: string, random: Random, other: string): string {
  rmSync(to, { recursive: true, force: true });
  cpSync(bundle, to, { recursive: true });
  return random.pick(changes)(to, random, other);
}
