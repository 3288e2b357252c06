import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../random.ts";

/** Changes the bundle in `folder` and returns a description of the change. */
type Change = (folder: string, random: Random, otherBundle: string) => string;

const readLines = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");
const writeLines = (path: string, lines: readonly string[]) => writeFileSync(path, lines.map((line) => `${line}\n`).join(""));

/** Returns a random file that is not empty. A file is empty if the business has no rows for it. */
function pickFile(folder: string, random: Random): { name: string; path: string } {
  const files = readdirSync(folder).filter((file) => statSync(join(folder, file)).size > 0);
  const name = random.pick(files.sort());
  return { name, path: join(folder, name) };
}

/**
 * Returns the file with the trail or the file with the links, because the verification needs every
 * row of these two files. Never returns the file with the heads, because the verification does not
 * need every head of a day.
 */
function pickRowsFile(folder: string, random: Random): { name: string; path: string; lines: string[] } {
  const name = random.pick(["trail.jsonl", "links.jsonl"]);
  const path = join(folder, name);
  return { name, path, lines: readLines(path) };
}

const changes: readonly Change[] = [
  (folder, random) => {
    const { name, path } = pickFile(folder, random);
    const bytes = readFileSync(path);
    // Changes a letter or a digit, because white space between JSON members has no meaning.
    const indexes = [...bytes.keys()].filter((index) => /[a-z0-9]/i.test(String.fromCharCode(bytes[index] ?? 0)));
    const index = random.pick(indexes);
    bytes[index] = (bytes[index] ?? 0) === 0x37 ? 0x38 : 0x37;
    writeFileSync(path, bytes);
    return `one byte of ${name} changed`;
  },
  (folder, random) => {
    const { name, path, lines } = pickRowsFile(folder, random);
    writeLines(path, lines.toSpliced(random.integer(0, lines.length - 1), 1));
    return `a line of ${name} removed`;
  },
  (folder, random) => {
    const { name, path, lines } = pickRowsFile(folder, random);
    const index = random.integer(0, lines.length - 1);
    writeLines(path, lines.toSpliced(index, 0, lines[index] ?? ""));
    return `a line of ${name} duplicated`;
  },
  (folder, random) => {
    const { name, path, lines } = pickRowsFile(folder, random);
    const index = random.integer(0, lines.length - 2);
    writeLines(path, lines.toSpliced(index, 2, lines[index + 1] ?? "", lines[index] ?? ""));
    return `two lines of ${name} swapped`;
  },
  (folder, random, otherBundle) => {
    // links.jsonl is not replaced, because the links of a day are the same in all bundles.
    const name = random.pick(["trail.jsonl", "manifest.json", "payments.jsonl", "refunds.jsonl"]);
    const isEqual = readFileSync(join(otherBundle, name)).equals(readFileSync(join(folder, name)));
    if (isEqual) writeFileSync(join(folder, name), "{}\n");
    else cpSync(join(otherBundle, name), join(folder, name));
    return `${name} replaced with the file of another business or with an empty object`;
  },
  (folder, random) => {
    const { name, path } = pickFile(folder, random);
    rmSync(path);
    return `${name} removed`;
  },
  (folder) => {
    writeFileSync(join(folder, "more.jsonl"), "{}\n");
    return "a file added";
  },
];

/** Copies a bundle, makes one random change to the copy and returns the change's description. */
export function tamperWithBundle(bundle: string, to: string, random: Random, otherBundle: string): string {
  rmSync(to, { recursive: true, force: true });
  cpSync(bundle, to, { recursive: true });
  return random.pick(changes)(to, random, otherBundle);
}
