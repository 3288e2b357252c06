import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Language } from "@amana/pages";
import { CommandError, exitCodes } from "../../command-error.ts";

type PointStatus = "passed" | "failed" | "not applicable";

/** A statement about a page, and whether the page satisfied it. */
export interface CheckResult {
  readonly text: string;
  readonly holds: boolean;
  /** Actual value, if the check failed. */
  readonly found?: string;
}

export interface PointResult {
  readonly point: string;
  readonly language: Language;
  readonly title: string;
  readonly requirement: string;
  readonly status: PointStatus;
  /** Reason why the point is not applicable or could not be completed. */
  readonly reason?: string;
  readonly at: string;
  readonly checks: readonly CheckResult[];
  /** Screenshots and receipts in the folder of the evidence. */
  readonly files: readonly { readonly name: string; readonly caption: string }[];
}

/** The evidence about one business of one deployment. `certify` stores it after each point. */
export interface Evidence {
  readonly deployment: string;
  readonly business: string;
  readonly results: Record<string, PointResult>;
}

export const resultKey = (point: string, language: Language): string => `${point}-${language}`;

const stateFile = "evidence.json";

/**
 * Reads the evidence in a folder, or creates the folder. Throws CommandError if the folder contains
 * evidence of another deployment or business, or if the evidence file cannot be read.
 */
export async function openEvidence(folder: string, deployment: string, business: string): Promise<Evidence> {
  await mkdir(join(folder, "files"), { recursive: true });
  const file = join(folder, stateFile);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new CommandError(`${file} cannot be read: ${error.message}. Use another folder with --out.`);
  });
  if (text === undefined) return { deployment, business, results: {} };
  const evidence = parseEvidence(text);
  if (!evidence) throw new CommandError(`${file} is not an evidence file. Use another folder with --out.`, exitCodes.usage);
  if (evidence.deployment !== deployment || evidence.business !== business) {
    throw new CommandError(
      `${file} contains evidence of the business ${evidence.business} at ${evidence.deployment}. Use another folder with --out.`,
      exitCodes.usage,
    );
  }
  return evidence;
}

function parseEvidence(text: string): Evidence | undefined {
  try {
    const value = JSON.parse(text) as Partial<Evidence> | null;
    const isEvidence = typeof value?.deployment === "string" && typeof value.business === "string" && value.results;
    return isEvidence ? (value as Evidence) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Stores the evidence. Replaces the file atomically, so that an interrupted run leaves a complete
 * file.
 */
export async function saveEvidence(folder: string, evidence: Evidence): Promise<void> {
  const file = join(folder, stateFile);
  await writeFile(`${file}.new`, `${JSON.stringify(evidence, null, 2)}\n`);
  await rename(`${file}.new`, file);
}
