import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../random.ts";

type Bend = (folder: string, random: Random, other: string) => string;

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");
const write = (path: string, lines: readonly string[]) => writeFileSync(path, lines.map((line) => `${line}\n`).join(""));

/** One in which something stands: a business may have no events yet. */
function anyFile(folder: string, random: Random): { name: string; path: string } {
  const files = readdirSync(folder).filter((file) => statSync(join(folder, file)).size > 0);
  const name = random.pick(files.sort());
  return { name, path: join(folder, name) };
}

/** Of what stands in order; of the heads of a day only some are needed. */
function anyRows(folder: string, random: Random): { name: string; path: string; lines: string[] } {
  const name = random.pick(["trail.jsonl", "links.jsonl"]);
  const path = join(folder, name);
  return { name, path, lines: linesOf(path) };
}

const bends: readonly Bend[] = [
  (folder, random) => {
    const { name, path } = anyFile(folder, random);
    const bytes = readFileSync(path);
    // A letter or digit: white space between members says nothing.
    const places = [...bytes.keys()].filter((at) => /[a-z0-9]/i.test(String.fromCharCode(bytes[at] ?? 0)));
    const at = random.pick(places);
    bytes[at] = (bytes[at] ?? 0) === 0x37 ? 0x38 : 0x37;
    writeFileSync(path, bytes);
    return `one byte of ${name} changed`;
  },
  (folder, random) => {
    const { name, path, lines } = anyRows(folder, random);
    write(path, lines.toSpliced(random.integer(0, lines.length - 1), 1));
    return `a line of ${name} left out`;
  },
  (folder, random) => {
    const { name, path, lines } = anyRows(folder, random);
    const at = random.integer(0, lines.length - 1);
    write(path, lines.toSpliced(at, 0, lines[at] ?? ""));
    return `a line of ${name} written twice`;
  },
  (folder, random) => {
    const { name, path, lines } = anyRows(folder, random);
    const at = random.integer(0, lines.length - 2);
    write(path, lines.toSpliced(at, 2, lines[at + 1] ?? "", lines[at] ?? ""));
    return `two lines of ${name} exchanged`;
  },
  (folder, random, other) => {
    // Not its links: those of a day are the same in all bundles.
    const name = random.pick(["trail.jsonl", "manifest.json", "payments.jsonl", "refunds.jsonl"]);
    const isEmpty = readFileSync(join(other, name)).equals(readFileSync(join(folder, name)));
    if (isEmpty) writeFileSync(join(folder, name), "{}\n");
    else cpSync(join(other, name), join(folder, name));
    return `${name} of another business's bundle, or of nobody's`;
  },
  (folder, random) => {
    const { name, path } = anyFile(folder, random);
    rmSync(path);
    return `${name} taken away`;
  },
  (folder) => {
    writeFileSync(join(folder, "more.jsonl"), "{}\n");
    return "a file added";
  },
];

/** A copy of a bundle, bent in one way. */
export function bendBundle(bundle: string, to: string, random: Random, other: string): string {
  rmSync(to, { recursive: true, force: true });
  cpSync(bundle, to, { recursive: true });
  return random.pick(bends)(to, random, other);
}
