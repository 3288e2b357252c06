import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AmanaError } from "@amana/client";
import type { Language } from "@amana/pages";
import { chromiumFlags, findChromium } from "@amana/runtime/chromium";
import { type Browser, chromium } from "playwright-core";
import { CommandError, exitCodes } from "../../command-error.ts";
import { print } from "../../print.ts";
import type { Api, ApiOptions } from "../connect.ts";
import { readCards, testCards } from "./cards.ts";
import { type Evidence, openEvidence, type PointResult, resultKey, saveEvidence } from "./evidence.ts";
import { NotApplicable, type Point, PointRun, type PointRunOptions, PointStopped, statusOf } from "./point-run.ts";
import { renderReport } from "./report.ts";
import { createPoints } from "./result-points.ts";

export interface CertifyOptions extends ApiOptions {
  readonly out: string;
  readonly language: Language | "all";
  readonly amount: string;
  readonly cards?: string;
  readonly byHand?: boolean;
  readonly email?: string;
  readonly only?: readonly string[];
  readonly again?: boolean;
  readonly chromium?: string;
}

interface PlannedRun {
  readonly point: Point;
  readonly language: Language;
}

const marks: Readonly<Record<PointResult["status"], string>> = { passed: "✓", failed: "✗", "not applicable": "-" };

/**
 * Checks the chosen points in a browser and writes the evidence. Without `again`, skips the points
 * that passed or did not apply in an earlier run with the same folder. Throws CommandError if a
 * point failed.
 */
export async function certify(api: Api, options: CertifyOptions): Promise<void> {
  const cards = options.cards === undefined ? testCards : await readCards(options.cards);
  const points = choosePoints(createPoints(cards, options.email), options.only);
  const languages: readonly Language[] = options.language === "all" ? ["fr", "ar", "en"] : [options.language];
  const folder = resolve(options.out);
  const { name } = await api.amana.me.get(api.requestOptions());
  const evidence = await openEvidence(folder, api.url, name);
  const runs = languages.flatMap((language, at) =>
    points.filter((point) => point.languages === "each" || at === 0).map((point) => ({ point, language })),
  );
  const isKept = ({ point, language }: PlannedRun) =>
    !options.again && ["passed", "not applicable"].includes(evidence.results[resultKey(point.id, language)]?.status ?? "");
  const pendingRuns = runs.filter((run) => !isKept(run));
  print(`${runs.length} points, ${runs.length - pendingRuns.length} kept from an earlier run. Evidence: ${folder}`);
  {
    await using browser = await launch(options);
    for (const [at, { point, language }] of pendingRuns.entries()) {
      if (api.stopSignal.aborted) break;
      const runOptions = { folder, language, amount: options.amount, byHand: options.byHand === true, progress: print };
      const result = await runPoint(api, browser, runOptions, point);
      evidence.results[resultKey(point.id, language)] = result;
      await saveEvidence(folder, evidence);
      print(`${marks[result.status]} ${at + 1}/${pendingRuns.length} ${point.title} (${language})${reasonOf(result)}`);
    }
    await writeReport(folder, sortResults(evidence, runs), browser);
  }
  summarize(evidence, runs, folder, api.stopSignal.aborted);
}

function choosePoints(points: readonly Point[], only: readonly string[] | undefined): readonly Point[] {
  if (!only) return points;
  const unknown = only.filter((id) => !points.some((point) => point.id === id));
  if (unknown.length === 0) return points.filter(({ id }) => only.includes(id));
  const known = points.map(({ id }) => id).join(", ");
  throw new CommandError(`Unknown points: ${unknown.join(", ")}. The points are: ${known}.`, exitCodes.usage);
}

async function launch({ chromium: given, byHand = false }: CertifyOptions): Promise<Browser> {
  const executablePath = given ?? findChromium();
  if (executablePath === undefined) {
    throw new CommandError(
      "No Chromium was found. Install it (Debian: apt-get install chromium), or pass the path of Chromium or Chrome with --chromium.",
      exitCodes.usage,
    );
  }
  return await chromium.launch({ executablePath, headless: !byHand, args: [...chromiumFlags] }).catch((error: Error) => {
    const [reason = ""] = error.message.split("\n");
    const display = byHand ? " --by-hand needs a screen." : "";
    throw new CommandError(
      `${executablePath} did not start: ${reason}.${display} Check the path, or pass another with --chromium.`,
    );
  });
}

async function runPoint(api: Api, browser: Browser, options: PointRunOptions, point: Point): Promise<PointResult> {
  const { id, title, requirement } = point;
  await using run = new PointRun(api, browser, options, id);
  const resultOf = (status: PointResult["status"], reason?: string): PointResult => ({
    ...{ point: id, language: options.language, title, requirement, status },
    ...(reason !== undefined && { reason }),
    ...{ at: new Date().toISOString(), checks: run.checks, files: run.files },
  });
  try {
    await point.verify(run);
    return resultOf(statusOf(run.checks));
  } catch (error) {
    if (error instanceof NotApplicable) return resultOf("not applicable", error.message);
    // An API error would also affect the next points, so it ends the run.
    if (error instanceof AmanaError) throw error;
    const [firstLine = ""] = (error as Error).message.split("\n");
    return resultOf(
      "failed",
      error instanceof PointStopped ? firstLine : `The check of the page stopped with an error: ${firstLine}`,
    );
  }
}

/**
 * Sorts the results in the order of the points in `runs`. Results of other points come last.
 */
function sortResults(evidence: Evidence, runs: readonly PlannedRun[]): Evidence {
  const keys = runs.map(({ point, language }) => resultKey(point.id, language));
  const rest = Object.keys(evidence.results).filter((key) => !keys.includes(key));
  const results = [...keys, ...rest].flatMap((key) => (evidence.results[key] ? [[key, evidence.results[key]] as const] : []));
  return { ...evidence, results: Object.fromEntries(results) };
}

async function writeReport(folder: string, evidence: Evidence, browser: Browser): Promise<void> {
  const file = join(folder, "evidence.html");
  await writeFile(file, renderReport(evidence));
  const page = await browser.newPage();
  await page.goto(new URL(`file://${file}`).href);
  // A browser with a window cannot write a PDF.
  const pdf = await page
    .pdf({ format: "A4", margin: { top: "15mm", bottom: "15mm", left: "15mm", right: "15mm" } })
    .catch(() => null);
  if (pdf) await writeFile(join(folder, "evidence.pdf"), pdf);
  await page.close();
}

function reasonOf({ checks, reason }: PointResult): string {
  const [failedCheck] = checks.filter(({ holds }) => !holds);
  const text =
    reason ??
    (failedCheck && `${failedCheck.text}${failedCheck.found === undefined ? "" : ` Found: ${failedCheck.found.slice(0, 120)}`}`);
  return text === undefined ? "" : `: ${text.replaceAll("\n", " ")}`;
}

function summarize(evidence: Evidence, runs: readonly PlannedRun[], folder: string, isStopped: boolean) {
  const statuses = runs.map(({ point, language }) => evidence.results[resultKey(point.id, language)]?.status);
  const count = (status: PointResult["status"]) => statuses.filter((each) => each === status).length;
  const [failed, missing] = [count("failed"), statuses.filter((status) => status === undefined).length];
  const text = `${count("passed")} passed, ${failed} failed, ${count("not applicable")} not applicable, ${missing} not run.`;
  print(`${text}\nEvidence: ${join(folder, "evidence.html")}`);
  if (isStopped) throw new CommandError("Stopped. Run the command again to continue.", exitCodes.interrupted);
  if (failed > 0)
    throw new CommandError(
      "Some points failed. Correct the deployment, then run the command again. It repeats only the points that failed or were not checked.",
    );
}
