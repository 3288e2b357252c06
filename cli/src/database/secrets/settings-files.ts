import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { exitCodes, Refused } from "../../refused.ts";

interface SettingsFile {
  readonly path: string;
  /** A folder with a file for each setting, its value in it. */
  readonly isFolder: boolean;
  lines: string[];
}

/** How far a secret's rotation is, and since when; written down in the files themselves. */
export interface RotationState {
  readonly step: number;
  readonly at: Date;
}

const settingOf = (line: string) => /^(?:export )?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line);
const unquoted = (value: string) => /^"(.*)"$|^'(.*)'$/.exec(value)?.slice(1).join("") ?? value;

/**
 * The settings of a deployment: NAME=value in lines, as compose's .env, or a folder with a file
 * for each, as what kustomize makes Secrets of. They hold secrets: values are never shown, and
 * written for their owner alone.
 */
export class SettingsFiles {
  readonly #files: SettingsFile[];

  constructor(paths: readonly string[]) {
    this.#files = paths.map((path) => {
      if (!existsSync(path))
        throw new Refused(`There is no ${path}. --settings names the files, or the folders, with the settings.`, exitCodes.usage);
      const isFolder = statSync(path).isDirectory();
      return { path, isFolder, lines: isFolder ? readFolder(path) : readFileSync(path, "utf8").split("\n") };
    });
  }

  /** The values of the settings for which `which` holds, in all files. */
  find(which: (name: string, value: string) => boolean): { name: string; value: string }[] {
    return this.#settings().flatMap(({ name, value }) => (which(name, value) ? [{ name, value }] : []));
  }

  /** Changes the values of settings; undefined takes one out. */
  change(edit: (name: string, value: string) => string | undefined): void {
    for (const file of this.#files) {
      file.lines = file.lines.flatMap((line) => {
        const [, name = "", raw = ""] = settingOf(line) ?? [];
        if (name === "") return [line];
        const value = unquoted(raw);
        const becomes = edit(name, value);
        if (becomes === value) return [line];
        return becomes === undefined ? [] : [`${name}=${becomes}`];
      });
    }
  }

  /** Puts a setting behind another one, in each file that has that. */
  addBehind(which: (name: string, value: string) => boolean, name: string, value: string): void {
    for (const file of this.#files) {
      file.lines = file.lines.flatMap((line) => {
        const [, known = "", raw = ""] = settingOf(line) ?? [];
        return known !== "" && which(known, unquoted(raw)) ? [line, `${name}=${value}`] : [line];
      });
    }
  }

  /** Refuses when the files tell different things. Step 0: no rotation is under way. */
  stateOf(secret: string): RotationState {
    const found = this.#files.flatMap(({ lines }) => lines.flatMap((line) => stateIn(line, secret) ?? []));
    const [first = { step: 0, at: new Date(0) }] = found;
    if (found.some(({ step }) => step !== first.step)) {
      throw new Refused(
        `The files disagree on how far the rotation of ${secret} is. Put back those of the same time, and run it again.`,
      );
    }
    return first;
  }

  /**
   * Writes the files, and into them how far the rotation is; step 0 takes the note out. All of it,
   * even if the process ends in between: see `finishInterrupted`. `told` is what it says then.
   */
  save(secret: string, { step, at }: RotationState, told: string): void {
    const note = step > 0 ? `${noteOf(secret)} step ${step} at ${at.toISOString()}` : undefined;
    const changes = this.#files.flatMap(({ path, isFolder, lines }): [string, string | null][] => {
      const kept = lines.filter((line) => stateIn(line, secret) === undefined);
      while (kept.at(-1) === "") kept.pop();
      if (note) kept.push(note);
      return isFolder ? changesOfFolder(path, kept) : [[path, `${kept.join("\n")}\n`]];
    });
    const [first] = this.#files;
    if (!first) return;
    const journal = journalOf(first.path);
    if (existsSync(journal)) throw new Refused("Somebody else is changing these files right now.");
    const absolute = changes.map(([path, text]) => [resolve(path), text] as const);
    writeOwn(journal, JSON.stringify({ told, note, changes: absolute } satisfies Journal));
    carryOut(journal, absolute);
  }

  #settings() {
    return this.#files.flatMap(({ lines }) =>
      lines.flatMap((line) => {
        const [, name = "", raw = ""] = settingOf(line) ?? [];
        return name === "" ? [] : [{ name, value: unquoted(raw) }];
      }),
    );
  }
}

/** Beside the settings in their folder: how far rotations are. */
const notesFile = ".rotations";
const isSettingName = (name: string) => /^[A-Z][A-Z0-9_]*$/.test(name);

function readFolder(path: string): string[] {
  const names = readdirSync(path).filter(isSettingName).sort();
  const notes = existsSync(join(path, notesFile)) ? readFileSync(join(path, notesFile), "utf8").split("\n") : [];
  return [...names.map((name) => `${name}=${readFileSync(join(path, name), "utf8").trim()}`), ...notes];
}

/** Only what has changed is written, and what is no setting any more goes (null). */
function changesOfFolder(path: string, lines: readonly string[]): [string, string | null][] {
  const wanted = new Map(lines.flatMap((line) => (settingOf(line) ? [[settingOf(line)?.[1] ?? "", line]] : [])));
  const gone: [string, null][] = [];
  for (const line of readFolder(path)) {
    const name = settingOf(line)?.[1];
    if (name !== undefined && !wanted.has(name)) gone.push([join(path, name), null]);
    else if (name !== undefined && wanted.get(name) === line) wanted.delete(name);
  }
  return [
    ...[...wanted].map(([name, line]): [string, string] => [join(path, name), line.slice(name.length + 1)]),
    ...gone,
    [join(path, notesFile), lines.filter((line) => !settingOf(line)).join("\n")],
  ];
}

/** What a step makes of files, by path; null: it goes. Written before the first of them is. */
interface Journal {
  readonly told: string;
  /** The line that says how far the rotation is then. */
  readonly note: string | undefined;
  readonly changes: readonly (readonly [string, string | null])[];
}

const journalOf = (path: string) => (statSync(path).isDirectory() ? join(path, ".rotating") : `${path}.rotating`);

/**
 * Does the rest of a step that was interrupted between two files, and answers what it had to tell.
 * A key that is new in one file and unknown in another would have messages and callers refused.
 */
export function finishInterrupted(paths: readonly string[]): string | undefined {
  const journals = paths.filter((path) => existsSync(path)).map(journalOf);
  // One that was not written to its end: nothing had been changed.
  for (const path of journals) rmSync(`${path}.new`, { force: true });
  const journal = journals.find((path) => existsSync(path));
  if (journal === undefined) return undefined;
  const { told, note, changes } = JSON.parse(readFileSync(journal, "utf8")) as Journal;
  const named = new Set(paths.map((path) => resolve(path)));
  const unnamed = changes.map(([path]) => path).find((path) => !named.has(path) && !named.has(dirname(path)));
  if (unnamed !== undefined) throw new Refused(`A step was interrupted that changes ${unnamed} too: name it with --settings.`);
  // A replica that has started since the step may have read only half of it.
  const now = note ? note.slice(0, note.lastIndexOf(" ") + 1) + new Date().toISOString() : "";
  carryOut(
    journal,
    changes.map(([path, text]) => [path, note ? (text?.replaceAll(note, now) ?? null) : text]),
  );
  return told;
}

function carryOut(journal: string, changes: Journal["changes"]): void {
  for (const [path, text] of changes) {
    if (text === null) rmSync(path, { force: true });
    else writeOwn(path, text);
  }
  rmSync(journal);
}

function writeOwn(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  chmodSync(`${path}.new`, 0o600);
  renameSync(`${path}.new`, path);
}

const noteOf = (secret: string) => `# amana secrets rotate ${secret}:`;

function stateIn(line: string, secret: string): RotationState | undefined {
  if (!line.startsWith(noteOf(secret))) return undefined;
  const [, step, at] = / step (\d) at (\S+)$/.exec(line) ?? [];
  return { step: Number(step), at: new Date(at ?? "") };
}
