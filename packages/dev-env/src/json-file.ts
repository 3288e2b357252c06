import { readFile, rename, writeFile } from "node:fs/promises";
import { DevEnvError } from "./dev-env-error.ts";

/**
 * Returns the content, or undefined if there is no file. Throws DevEnvError if the file cannot be
 * read or parsed.
 */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    const nextStep =
      error instanceof SyntaxError
        ? "Restore the file from a backup, or run start with --fresh, which deletes all data."
        : "Run the command as the user who created the folder, or set AMANA_DIR to another folder.";
    throw new DevEnvError(`${path} cannot be read: ${(error as Error).message}`, nextStep, { cause: error });
  }
}

/** Writes the file atomically. Only the owner can read it, because it can contain keys. */
export async function writeJson(path: string, content: object): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
