import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { direction, type Language } from "@amana/pages";
import type { Receipt } from "./receipt.ts";
import { contentOf, type Row } from "./rows.ts";

/** Renders receipts as PDF: A5, with embedded fonts. */
export interface PdfRenderer extends AsyncDisposable {
  /** Throws `PdfRendererFailed` after a timeout, or if the child process ends or fails. */
  render(receipt: Receipt, language: Language): Promise<Uint8Array>;
}

/** The child process did not return a PDF. */
export class PdfRendererFailed extends Error {
  override readonly name = "PdfRendererFailed";
}

interface Rendering {
  readonly message: object;
  resolve(pdf: Uint8Array): void;
  reject(error: Error): void;
}

interface Reply {
  readonly id: number;
  readonly pdf?: Uint8Array;
  readonly error?: string;
}

const program = fileURLToPath(new URL("./assets/pdf-process.js", import.meta.url));

/**
 * Creates a renderer. The layout runs in a child process, because some texts make typst abort its
 * process. The child process starts with the first receipt, and again after it has ended. It
 * renders one receipt at a time, in about 10 ms; the caller limits the receipts that wait.
 * `timeoutMs` limits the time of a receipt, including its wait.
 */
export function createPdfRenderer({ timeoutMs = 5_000 } = {}): PdfRenderer {
  /** The receipts that the child process must render, in order. */
  const queued = new Map<number, Rendering>();
  let child: ChildProcess | undefined;
  let lastId = 0;

  const stop = async (reason: string) => {
    const stopped = child;
    child = undefined;
    for (const { reject } of queued.values()) reject(new PdfRendererFailed(reason));
    queued.clear();
    stopped?.kill("SIGKILL");
  };

  // The callback ignores a failed message, because the event "exit" follows.
  const send = ({ message }: Rendering) => child?.send(message, () => {});

  const start = () => {
    // typst needs no settings of the service. Its messages can contain texts of customers, so they
    // must not reach the log.
    const started = fork(program, {
      execArgv: [],
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    started.on("message", ({ id, pdf, error }: Reply) => {
      const rendering = queued.get(id);
      queued.delete(id);
      if (pdf) rendering?.resolve(pdf);
      else rendering?.reject(new PdfRendererFailed(`the receipt could not be rendered: ${error}`));
    });
    const onEnd = (reason: unknown) => {
      if (child !== started) return;
      child = undefined;
      // The process ended while it rendered the first receipt. A new process renders the others.
      const [first] = queued;
      if (first) {
        const [id, { reject }] = first;
        queued.delete(id);
        reject(new PdfRendererFailed(`the process ended: ${reason}`));
      }
      if (queued.size === 0) return;
      child = start();
      for (const rendering of queued.values()) send(rendering);
    };
    started.on("error", onEnd).on("exit", (code, signal) => onEnd(signal ?? code));
    // Permits this process to end while the child process is idle.
    started.unref();
    started.channel?.unref();
    return started;
  };

  return {
    async render(receipt, language) {
      child ??= start();
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
      const timer = setTimeout(() => void stop("a receipt was not rendered in time"), timeoutMs);
      const rendering = { message: { id, receipt: JSON.stringify(pdfContentOf(receipt, language)) }, resolve, reject };
      queued.set(id, rendering);
      send(rendering);
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
