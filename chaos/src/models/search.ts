import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Variant } from "./variants.ts";

const run = promisify(execFile);
const models = join(import.meta.dirname, "..", "..", "models");
const memoryMbMax = 3_000;
/** Maximum number of steps of a path. Every path through the models is shorter. */
const depthMax = 20_000;
const searchMsMax = 600_000;

/** Result of a search. Without a counterexample, the search has visited every reachable state. */
export interface SearchResult {
  readonly states: number;
  /** The shortest path to a violation, one line for each printed step. */
  readonly counterexample: readonly string[] | undefined;
}

/** Returns whether the model checker spin and the compiler that it needs are installed. */
export async function isSpinInstalled(): Promise<boolean> {
  const results = await Promise.allSettled([run("spin", ["-V"]), run("gcc", ["--version"])]);
  return results.every(({ status }) => status === "fulfilled");
}

/**
 * Searches all states of a model. For a model without a rule, returns the shortest counterexample.
 * Throws if the search could not visit all states.
 */
export async function searchModel({ model, without }: Variant): Promise<SearchResult> {
  const cwd = await mkdtemp(join(tmpdir(), "amana-model-"));
  const file = join(models, `${model}.pml`);
  const define = without ? [`-D${without}`] : [];
  const options = { cwd, timeout: searchMsMax, maxBuffer: 16 * 1024 * 1024 };
  try {
    await run("spin", ["-a", ...define, file], options);
    // A breadth-first search finds the shortest counterexample first.
    const order = without ? ["-DBFS"] : [];
    await run("gcc", ["-O1", "-w", "-DSAFETY", `-DMEMLIM=${memoryMbMax}`, ...order, "-o", "pan", "pan.c"], options);
    // -E: a state without further steps is not an error. The model has its own assertion for it.
    const { stdout } = await run(join(cwd, "pan"), ["-E", `-m${depthMax}`], options);
    const states = Number(/(\d+) states, stored/.exec(stdout)?.[1]);
    const errors = Number(/errors: (\d+)/.exec(stdout)?.[1]);
    if (!(states > 0) || Number.isNaN(errors) || /max search depth|reached -DMEMLIM|out of memory/.test(stdout)) {
      throw new Error(`the search of ${model} did not visit all states:\n${stdout}`);
    }
    if (errors === 0) return { states, counterexample: undefined };
    const trail = await run("spin", ["-k", `${model}.pml.trail`, "-t", ...define, file], options);
    return { states, counterexample: readTrail(trail.stdout) };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/**
 * Returns the lines printed by the model and the failed assertion, without the dump of variables.
 */
function readTrail(output: string): string[] {
  const lines = output.split("\n").map((line) => line.trim());
  const end = lines.findIndex((line) => line.startsWith("#processes"));
  return lines.slice(0, end < 0 ? undefined : end).filter((line) => line !== "" && !line.startsWith("spin: trail ends"));
}
