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

/** Result of a search. A search without a counterexample has visited every reachable state. */
export interface SearchResult {
  readonly states: number;
  /** The shortest path to a violation. Each line is a step that the model prints. */
  readonly counterexample: readonly string[] | undefined;
}

/** Returns true if the model checker spin and the compiler gcc, which it needs, are installed. */
export async function isSpinInstalled(): Promise<boolean> {
  const results = await Promise.allSettled([run("spin", ["-V"]), run("gcc", ["--version"])]);
  return results.every(({ status }) => status === "fulfilled");
}

/**
 * Searches the states of a model. Stops at a counterexample. For a model from which a rule is
 * removed, this is the shortest one. Throws if the search could not visit all states.
 */
export async function searchModel({ model, without }: Variant): Promise<SearchResult> {
  const cwd = await mkdtemp(join(tmpdir(), "amana-model-"));
  const file = join(models, `${model}.pml`);
  const define = without ? [`-D${without}`] : [];
  const options = { cwd, timeout: searchMsMax, maxBuffer: 16 * 1024 * 1024 };
  try {
    await run("spin", ["-a", ...define, file], options);
    // Without a rule, a breadth-first search finds the shortest counterexample after few states. An
    // optimized compilation of such a search would take longer than it saves.
    const mode = without ? ["-O0", "-DBFS"] : ["-O1"];
    await run("gcc", [...mode, "-w", "-DSAFETY", `-DMEMLIM=${memoryMbMax}`, "-o", "pan", "pan.c"], options);
    // With -E, a state without further steps is not an error. The model itself asserts that such a
    // state is correct.
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
 * Returns the lines that the model prints and the failed assertion. Omits the variables, which spin
 * prints at the end.
 */
function readTrail(output: string): string[] {
  const lines = output.split("\n").map((line) => line.trim());
  const end = lines.findIndex((line) => line.startsWith("#processes"));
  return lines.slice(0, end < 0 ? undefined : end).filter((line) => line !== "" && !line.startsWith("spin: trail ends"));
}
