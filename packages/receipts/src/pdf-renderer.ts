import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { direction, type Language } from "@amana/pages";
import { setBounded } from "@amana/runtime";
import type { Receipt } from "./receipt.ts";
import { contentOf, type Row } from "./rows.ts";

/** Renders receipts as PDF: A5, with embedded fonts. */
export interface PdfRenderer extends AsyncDisposable {
  /**
   * Throws `PdfRendererFailed` if the child process does not start, ends, reports an error or takes
   * more than `renderingMsMax`. If the process ended or took too long, also throws for the same
   * content during the next `rejectionMs`. Throws after the renderer is closed.
   */
  render(receipt: Receipt, language: Language): Promise<Uint8Array>;
}

/** The child process did not return a PDF. */
export class PdfRendererFailed extends Error {
  override readonly name = "PdfRendererFailed";
}

/** Result of a rendering: the reply of the child process, or the reason why there is no reply. */
interface Outcome {
  readonly pdf?: Uint8Array;
  readonly error?: string;
  /** True if the process ended or took too long. The same content would probably fail again. */
  readonly isFatal?: boolean;
}

const program = fileURLToPath(new URL("./assets/pdf-process.js", import.meta.url));
/** Shell script that runs a command without core files, which would contain texts of customers. */
const withoutCoreFile = 'ulimit -c 0 && exec "$@"';

/** Maximum time in which the child process renders a receipt, including the process's start. */
const renderingMsMax = 5_000;
/** Time for which the renderer rejects the content of a receipt after a fatal outcome. */
const rejectionMs = 10 * 60 * 1000;
const rejectionsMax = 1_000;

/**
 * Creates a renderer. The layout runs in a child process, because some texts make typst abort its
 * process. The child process starts with the first receipt. After it has ended, a new process
 * starts with the next receipt. The process renders one receipt at a time, in about 10 ms.
 * `renderingMsMax` does not include the wait for earlier receipts. The caller must limit the number
 * of receipts that wait.
 */
export function createPdfRenderer(): PdfRenderer {
  let child: ChildProcess | undefined;
  /** Settles the receipt that the child process renders. */
  let settle: ((outcome: Outcome) => void) | undefined;
  /** Resolves when the newest receipt has been rendered or has failed. */
  let lastRendering = Promise.resolve();
  let isClosed = false;
  /** Keys are SHA-256 hashes, so that the renderer does not keep texts of customers. */
  const rejectedUntilMs = new Map<string, number>();

  const stop = (outcome: Outcome) => {
    child?.kill("SIGKILL");
    child = undefined;
    settle?.(outcome);
  };

  const start = () => {
    // Passes only MALLOC_ARENA_MAX, because typst needs no settings of the service. Ignores the
    // output of typst, because it can contain texts of customers and must not reach the log.
    const started = spawn("/bin/sh", ["-c", withoutCoreFile, "sh", process.execPath, program], {
      env: { MALLOC_ARENA_MAX: process.env["MALLOC_ARENA_MAX"] },
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    // Ignores the events of a stopped process, because a new process may render another receipt.
    const onEnd = (outcome: Outcome) => child === started && stop(outcome);
    started
      .on("message", (reply: Outcome) => child === started && settle?.(reply))
      .on("error", ({ message }) => onEnd({ error: message }))
      .on("exit", (code, signal) => onEnd({ error: `the process ended: ${signal ?? code}`, isFatal: true }));
    // Permits this process to end while the child process is idle.
    started.unref();
    started.channel?.unref();
    return started;
  };

  const renderContent = async (content: string): Promise<Uint8Array> => {
    if (isClosed) throw new PdfRendererFailed("the renderer is closed");
    const hash = createHash("sha256").update(content).digest("base64");
    if ((rejectedUntilMs.get(hash) ?? 0) > performance.now()) {
      throw new PdfRendererFailed("a process ended or took too long with the same content");
    }
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    settle = resolve;
    const timer = setTimeout(stop, renderingMsMax, { error: "the time limit has passed", isFatal: true });
    try {
      child ??= start();
      // A process that did not start has no `send`. Its event "error" settles the receipt. The
      // callback ignores a failed message, because the event "exit" settles the receipt.
      child.send?.(content, () => {});
    } catch (error) {
      resolve({ error: String(error) });
    }
    const { pdf, error, isFatal } = await promise;
    clearTimeout(timer);
    settle = undefined;
    if (isFatal) setBounded(rejectedUntilMs, hash, performance.now() + rejectionMs, rejectionsMax);
    if (!pdf) throw new PdfRendererFailed(`the receipt could not be rendered: ${error}`);
    return pdf;
  };

  return {
    async render(receipt, language) {
      const content = JSON.stringify(pdfContentOf(receipt, language));
      const rendering = lastRendering.then(() => renderContent(content));
      lastRendering = rendering.then(
        () => {},
        () => {},
      );
      return await rendering;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      stop({ error: "the renderer is closed" });
    },
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
