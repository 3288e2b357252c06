import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Variant } from "./variants.ts";

const run = promisify(execFile);
const models = join(import.meta.dirname, "..", "..", "models");
const memoryMbMax = 3_000;
/** More steps than any run of the models has. */
const depthMax = 20_000;
const searchMsMax = 600_000;

/** What a search found. Without a counterexample every state that can be reached was seen. */
export interface Finding {
  readonly states: number;
  /** The shortest way to what must not happen, told line by line. */
  readonly counterexample: readonly string[] | undefined;
}

/** Whether the model checker and the compiler that it needs are there. */
export async function isSpinThere(): Promise<boolean> {
  const answers = await Promise.allSettled([run("spin", ["-V"]), run("gcc", ["--version"])]);
  return answers.every(({ status }) => status === "fulfilled");
}

/**
 * Searches all states of a model, and gives the shortest counterexample where one is expected.
 * Throws when not all could be seen.
 */
export async function search({ model, without }: Variant): Promise<Finding> {
  const cwd = await mkdtemp(join(tmpdir(), "amana-model-"));
  const file = join(models, `${model}.pml`);
  const define = without ? [`-D${without}`] : [];
  const options = { cwd, timeout: searchMsMax, maxBuffer: 16 * 1024 * 1024 };
  try {
    await run("spin", ["-a", ...define, file], options);
    // Breadth first, the first counterexample is the shortest.
    const order = without ? ["-DBFS"] : [];
    await run("gcc", ["-O1", "-w", "-DSAFETY", `-DMEMLIM=${memoryMbMax}`, ...order, "-o", "pan", "pan.c"], options);
    // -E: where nothing can move any more is no fault by itself; what must hold there the model
    // asserts.
    const { stdout } = await run(join(cwd, "pan"), ["-E", `-m${depthMax}`], options);
    const states = Number(/(\d+) states, stored/.exec(stdout)?.[1]);
    const errors = Number(/errors: (\d+)/.exec(stdout)?.[1]);
    if (!(states > 0) || Number.isNaN(errors) || /max search depth|reached -DMEMLIM|out of memory/.test(stdout)) {
      throw new Error(`the search of ${model} ended early:\n${stdout}`);
    }
    if (errors === 0) return { states, counterexample: undefined };
    const trail = await run("spin", ["-k", `${model}.pml.trail`, "-t", ...define, file], options);
    return { states, counterexample: storyOf(trail.stdout) };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/**
 * What the model printed on the way, and the assertion at its end, without the checker's own dump
 * of all variables.
 */
function storyOf(output: string): string[] {
  const lines = output.split("\n").map((line) => line.trim());
  const end = lines.findIndex((line) => line.startsWith("#processes"));
  return lines.slice(0, end < 0 ? undefined : end).filter((line) => line !== "" && !line.startsWith("spin: trail ends"));
}
