import { Worker } from "node:worker_threads";
import { direction, type Language } from "@amana/pages";
import type { Receipt } from "./receipt.ts";
import { contentOf, type Row } from "./rows.ts";

/** Renders receipts as PDF: A5, with embedded fonts. */
export interface PdfRenderer extends AsyncDisposable {
  /** Throws `PdfRendererFailed` after a timeout or a fault of the worker thread. */
  render(receipt: Receipt, language: Language): Promise<Uint8Array>;
}

/** The worker thread did not return a PDF. */
export class PdfRendererFailed extends Error {
  override readonly name = "PdfRendererFailed";
}

interface Rendering {
  resolve(pdf: Uint8Array): void;
  reject(error: Error): void;
}

interface Reply {
  readonly id: number;
  readonly pdf?: Uint8Array;
  readonly error?: string;
}

const workerUrl = new URL("./assets/pdf-worker.js", import.meta.url);

/**
 * Creates a renderer. The layout runs in one worker thread, so that it does not delay other work of
 * the process. The thread starts with the first receipt, because it needs about 50 MB. The thread
 * renders one receipt at a time, in about 10 ms; the caller limits the receipts that wait.
 * `timeoutMs` limits the time of a receipt, including its wait.
 */
export function createPdfRenderer({ timeoutMs = 5_000 } = {}): PdfRenderer {
  const queued = new Map<number, Rendering>();
  let worker: Worker | undefined;
  let lastId = 0;

  const stop = async (reason: string) => {
    const stoppedWorker = worker;
    worker = undefined;
    for (const { reject } of queued.values()) reject(new PdfRendererFailed(reason));
    queued.clear();
    await stoppedWorker?.terminate();
  };

  const start = () => {
    // The thread does not inherit the Node options of the process, because threads reject some
    // options.
    const started = new Worker(workerUrl, { execArgv: [] });
    started.on("message", ({ id, pdf, error }: Reply) => {
      const rendering = queued.get(id);
      queued.delete(id);
      if (pdf) rendering?.resolve(pdf);
      else rendering?.reject(new PdfRendererFailed(`the receipt could not be rendered: ${error}`));
    });
    const onEnd = (reason: unknown) => {
      if (worker === started) void stop(`the worker thread ended: ${reason}`);
    };
    started.on("error", onEnd).on("exit", onEnd);
    // Permits the process to end while the thread is idle.
    started.unref();
    return started;
  };

  return {
    async render(receipt, language) {
      worker ??= start();
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
      const timer = setTimeout(() => void stop("a receipt was not rendered in time"), timeoutMs);
      queued.set(id, { resolve, reject });
      worker.postMessage({ id, receipt: JSON.stringify(pdfContentOf(receipt, language)) });
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
      }
    },
    [Symbol.asyncDispose]: () => stop("the renderer is closed"),
  };
}

/** Matches 24 letters of a longer run, because a longer run may be wider than a line. */
const longRun = /[^\s\u200b]{24}(?=\S)/gu;

/** Permits a line break in long runs of letters, because the layout breaks lines only at spaces. */
const breakable = (row: Row): Row => ({
  ...row,
  value: { ...row.value, text: row.value.text.replace(longRun, "$&\u200b") },
});

/** Returns the input of the template `receipt.typ`. */
function pdfContentOf(receipt: Receipt, language: Language) {
  const { state, seller, rows, ...content } = contentOf(receipt, language);
  return {
    ...content,
    language,
    direction: direction[language],
    state: state.text,
    tone: state.tone,
    seller: breakable(seller).value,
    rows: rows.map(breakable),
  };
}
