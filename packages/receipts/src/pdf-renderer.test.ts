import { type ChildProcess, execFile } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { languages } from "@amana/pages";
import { extractText, getDocumentProxy } from "unpdf";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { anArabicReceipt, aReceipt, hostileTexts } from "../test/a-receipt.ts";
import { createPdfRenderer, PdfRendererFailed } from "./pdf-renderer.ts";

const renderer = createPdfRenderer();
afterAll(() => renderer[Symbol.asyncDispose]());

/** Text for which the layout of typst 0.14 fails in native code that cannot throw. */
const abortingText =
  '<\u{fc9f}\u{fc9f}\u{103a}\u{fc9f}\u{fc9f}0\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{1f531}\u{2aed}\u{fc9f}\u{fc9f}>\u{fc9f}/\u{fc9f}\u{d99}\u{fe48}\u{fc9f}<\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{b4d}\u{fc9f}\u{fd4d}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}\u{fc9f}"\u{fc9f}\u{fc9f}\u{fc9f}\u{262f}\u{fc9f}\u{20dd}\u{fc9f}\u{fc9f}\u{974}\u{fc9f}';
const anAbortingReceipt = { ...aReceipt, description: abortingText };

/** Child processes that the current test has started. */
const processes: ChildProcess[] = [];
subscribe("child_process", (message) => void processes.push((message as { process: ChildProcess }).process));
beforeEach(() => void processes.splice(0));

const programOf = (file: string) => [process.execPath, join(import.meta.dirname, "..", "test", file)];
const run = (command: string, args: readonly string[]) => promisify(execFile)(command, args, { timeout: 30_000 });

/** Stops the clock and the timers until the returned object is disposed. */
function useFakeTimers() {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  return { advance: (ms: number) => vi.advanceTimersByTimeAsync(ms), [Symbol.dispose]: () => vi.useRealTimers() };
}

/** Width and height of A5 in points. */
const a5 = [419.53, 595.28];

async function read(pdf: Uint8Array) {
  const source = Buffer.from(pdf).toString("latin1");
  const document = await getDocumentProxy(Uint8Array.from(pdf));
  const { text } = await extractText(document, { mergePages: true });
  const page = await document.getPage(1);
  return {
    pages: document.numPages,
    size: page.view.slice(2).map((points) => Math.round(points * 100) / 100),
    // Text may contain line breaks, and the soft breaks of long words.
    text: text.replace(/\u200b/g, "").replace(/\s+/g, " "),
    fonts: [...source.matchAll(/\/FontName \/(\S+)/g)].map(([, name]) => name),
    embedded: [...source.matchAll(/\/FontFile[23] /g)].length,
  };
}

describe("createPdfRenderer", () => {
  test.each(languages)(
    "PdfRenderer.render in the language %s returns one A5 page with embedded fonts and all details of the receipt",
    async (language) => {
      const { pages, size, text, fonts, embedded } = await read(await renderer.render(aReceipt, language));
      expect(pages).toBe(1);
      expect(size).toEqual(a5);
      expect(fonts.length).toBeGreaterThan(1);
      expect(fonts.filter((name) => !/^[A-Z]{6}\+(NotoSans|IBMPlexSansArabic)-/.test(name ?? ""))).toEqual([]);
      expect(embedded).toBe(fonts.length);
      const { businessName, processorOrderId, approvalCode, maskedPan, receiptNumber } = aReceipt;
      for (const value of [businessName, processorOrderId, approvalCode, maskedPan, receiptNumber, "DZD", "14:05", "3020"]) {
        expect(text).toContain(value);
      }
    },
  );

  test("PdfRenderer.render draws Arabic labels to the right of their values, and the words in the PDF can be copied", async () => {
    const pdf = await renderer.render({ ...anArabicReceipt, description: undefined }, "ar");
    const document = await getDocumentProxy(Uint8Array.from(pdf));
    const { items } = await (await document.getPage(1)).getTextContent();
    const places = items.flatMap((item) =>
      "str" in item && item.str ? [{ text: item.str, x: item.transform[4] as number }] : [],
    );
    const { text } = await read(pdf);
    for (const word of ["إيصال", "الدفع", "مكتبة", "الكتاب"]) expect(text).toContain(word);
    const label = places.find(({ text }) => text.includes("التفويض"));
    const value = places.find(({ text }) => text.includes("303004"));
    expect(label?.x).toBeGreaterThan(value?.x ?? Number.NaN);
    expect(text).toContain("1.234.567,50");
  });

  test("PdfRenderer.render shows markup in a caller's text as plain text", async () => {
    const receipt = { ...aReceipt, businessName: hostileTexts.markup, description: hostileTexts.overrides };
    const { text, pages } = await read(await renderer.render({ ...receipt, customerName: hostileTexts.invisible }, "fr"));
    expect(text).toContain("<script>alert(1)</script> #panic() *bold* $x$ \\u{41} [a] & \"quotes\" 'x'");
    expect(text).toContain("abcdcbaisolatedend");
    expect(pages).toBe(1);
  });

  test("PdfRenderer.render prints a text of 512 Arabic letters, and words longer than a line, within the page", async () => {
    const description = "حجز سيارة في الجزائر ".repeat(25).slice(0, 512);
    const receipt = { ...aReceipt, description, businessName: "م".repeat(200), customerName: "W".repeat(200) };
    const pdf = await renderer.render(receipt, "ar");
    const document = await getDocumentProxy(Uint8Array.from(pdf));
    const { items } = await (await document.getPage(1)).getTextContent();
    const outside = items.filter((item) => "str" in item && item.str.trim() !== "" && isOutside(item.transform[4], item.width));
    expect(outside).toEqual([]);
    expect((await read(pdf)).text.match(/W/g)).toHaveLength(200);
  });

  test("PdfRenderer.render returns the same bytes for the same receipt", async () => {
    const [firstPdf, secondPdf] = [await renderer.render(aReceipt, "fr"), await renderer.render(aReceipt, "fr")];
    expect(Buffer.compare(firstPdf, secondPdf)).toBe(0);
  });

  test("PdfRenderer.render throws after the timeout, and a new process renders the receipts that wait", async () => {
    await using stalled = createPdfRenderer();
    await stalled.render(aReceipt, "fr");
    processes[0]?.kill("SIGSTOP");
    using timers = useFakeTimers();
    const results = Promise.allSettled((["en", "ar", "fr"] as const).map((language) => stalled.render(aReceipt, language)));
    await timers.advance(5_000);
    const [late, ...waiting] = await results;
    expect(late).toMatchObject({ reason: { name: "PdfRendererFailed", message: expect.stringContaining("time limit") } });
    expect(waiting.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    await expect(stalled.render(aReceipt, "en")).rejects.toThrow("took too long with the same content");
    expect(processes).toHaveLength(2);
  });

  test("PdfRenderer.render throws if a text makes typst abort, and a new process renders the receipt that waits", async () => {
    const aborted = renderer.render(anAbortingReceipt, "fr");
    const waiting = renderer.render(aReceipt, "fr");
    await expect(aborted).rejects.toThrow("the process ended: SIGABRT");
    await expect(aborted).rejects.toBeInstanceOf(PdfRendererFailed);
    expect((await read(await waiting)).pages).toBe(1);
    expect((await read(await renderer.render(aReceipt, "ar"))).pages).toBe(1);
  });

  test("PdfRenderer.render starts no process for a text that made typst abort in the last ten minutes", async () => {
    using timers = useFakeTimers();
    await using renderer = createPdfRenderer();
    const results = await Promise.allSettled([1, 2, 3].map(() => renderer.render(anAbortingReceipt, "fr")));
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await timers.advance(10 * 60 * 1000 - 1);
    const repeated = renderer.render(anAbortingReceipt, "fr");
    await expect(repeated).rejects.toBeInstanceOf(PdfRendererFailed);
    await expect(repeated).rejects.toThrow("with the same content");
    expect(processes).toHaveLength(1);
    await timers.advance(1);
    await expect(renderer.render(anAbortingReceipt, "fr")).rejects.toThrow("the process ended: SIGABRT");
    expect(processes).toHaveLength(2);
  });

  test("PdfRenderer.render starts a new process after an idle process was killed", async () => {
    await using renderer = createPdfRenderer();
    await renderer.render(aReceipt, "fr");
    const [idle] = processes as [ChildProcess];
    idle.kill("SIGKILL");
    await once(idle, "exit");
    expect((await read(await renderer.render(aReceipt, "fr"))).pages).toBe(1);
    expect(processes).toHaveLength(2);
  });

  test("PdfRenderer.render throws if the child process cannot start, and renders the same receipt when it can start", async () => {
    await using renderer = createPdfRenderer();
    const { execPath } = process;
    // `spawn` throws for a path with this character.
    process.execPath = "\0";
    try {
      await expect(renderer.render(aReceipt, "fr")).rejects.toBeInstanceOf(PdfRendererFailed);
    } finally {
      process.execPath = execPath;
    }
    expect((await read(await renderer.render(aReceipt, "fr"))).pages).toBe(1);
  });

  test("PdfRenderer.render throws while the calling process cannot open files, and renders the same receipt later", async () => {
    const { stdout } = await run("/bin/sh", ["-c", 'ulimit -n 256 && exec "$@"', "sh", ...programOf("render-without-files.ts")]);
    expect(JSON.parse(stdout)).toEqual({ errors: ["PdfRendererFailed", "PdfRendererFailed"], start: "%PDF-" });
  });

  test("PdfRenderer.render throws a RangeError and starts no timer for a receipt with an invalid date, and renders the next receipt", async () => {
    const timeout = vi.spyOn(globalThis, "setTimeout");
    await using renderer = createPdfRenderer();
    await expect(renderer.render({ ...aReceipt, issuedAt: new Date(Number.NaN) }, "fr")).rejects.toThrow(RangeError);
    expect(timeout).not.toHaveBeenCalled();
    timeout.mockRestore();
    expect((await read(await renderer.render(aReceipt, "fr"))).pages).toBe(1);
  });

  test("PdfRenderer rejects all receipts when it is disposed, and starts no further process", async () => {
    const renderer = createPdfRenderer();
    const renderings = [renderer.render(aReceipt, "fr"), renderer.render(aReceipt, "ar")];
    const results = Promise.allSettled(renderings);
    await renderer[Symbol.asyncDispose]();
    expect((await results).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(renderer.render(aReceipt, "fr")).rejects.toThrow("the renderer is closed");
    expect(processes).toEqual([]);
  });

  test.runIf(process.platform === "linux")(
    "the process of a PdfRenderer writes no core file and gets only MALLOC_ARENA_MAX from the environment",
    async () => {
      vi.stubEnv("MALLOC_ARENA_MAX", "1");
      await using renderer = createPdfRenderer();
      await renderer.render(aReceipt, "fr");
      vi.unstubAllEnvs();
      const folder = `/proc/${processes[0]?.pid}`;
      expect(await readFile(`${folder}/limits`, "utf8")).toMatch(/^Max core file size +0 +0 /m);
      const names = (await readFile(`${folder}/environ`, "utf8")).split("\0").map((line) => line.split("=", 1)[0]);
      expect(names.filter((name) => name && !/^(NODE_CHANNEL_\w+|PWD|OLDPWD|SHLVL|_)$/.test(name))).toEqual(["MALLOC_ARENA_MAX"]);
    },
  );

  test("an open PdfRenderer does not keep its process alive after the other work of the process has ended", async () => {
    const [command = "", ...programArguments] = programOf("render-once.ts");
    await run(command, programArguments);
  });
});

const isOutside = (x: number, width: number) => x < 30 || x + width > (a5[0] as number) - 30;
