/**
 * A step of a start. `done` or `fail` ends the step. Calls after the end of the step are ignored.
 */
export interface ProgressStep {
  update(what: string): void;
  done(result: string): void;
  fail(reason: string): void;
}

/** Progress output of concurrent steps. */
export interface Progress {
  step(name: string): ProgressStep;
  /** Writes a line above the running steps. */
  print(line: string): void;
  /** Marks every running step as stopped by the user. */
  stopSteps(): void;
}

interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

interface RunningStep {
  name: string;
  what: string;
  startedMs: number;
}

const redrawMs = 200;

/** Returns the result of `work`, which must call `done`. If `work` throws, the step fails. */
export async function inStep<T>(progress: Progress, name: string, work: (step: ProgressStep) => Promise<T>): Promise<T> {
  const step = progress.step(name);
  try {
    return await work(step);
  } catch (error) {
    step.fail((error as Error).message.split("\n")[0] ?? "");
    throw error;
  }
}

/** Progress output for tests. It writes nothing. */
export const silentProgress: Progress = {
  step: () => ({ update() {}, done() {}, fail() {} }),
  print() {},
  stopSteps() {},
};

/**
 * Creates the progress output. On a terminal each running step has one line with its duration,
 * which is redrawn in place. Otherwise each change is a plain line. `nowMs` is a clock in
 * milliseconds.
 */
export function createProgress(stream: ProgressStream = process.stderr, nowMs: () => number = () => performance.now()): Progress {
  const runningSteps = new Set<RunningStep>();
  const isTerminal = stream.isTTY === true;
  let drawnLines = 0;
  let timer: NodeJS.Timeout | undefined;

  const formatElapsed = (step: RunningStep) => `${((nowMs() - step.startedMs) / 1000).toFixed(1)} s`;

  const redraw = (above: string) => {
    // Cuts long lines. A wrapped line would use two rows of the terminal, and the next redraw would
    // start one row too low.
    const width = Math.max(20, (stream.columns || 80) - 1);
    const lines = [...runningSteps].map((step) => `… ${step.name}: ${step.what} (${formatElapsed(step)})`.slice(0, width));
    const back = drawnLines === 0 ? "" : `\x1b[${drawnLines}A\r\x1b[0J`;
    stream.write(back + above + lines.map((line) => `${line}\n`).join(""));
    drawnLines = lines.length;
  };

  const print = (line: string) => (isTerminal ? redraw(`${line}\n`) : stream.write(`${line}\n`));

  const updateTimer = () => {
    if (isTerminal && timer === undefined && runningSteps.size > 0) timer = setInterval(() => redraw(""), redrawMs).unref();
    if (runningSteps.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };

  const end = (step: RunningStep, mark: string, text: string) => {
    if (!runningSteps.delete(step)) return;
    updateTimer();
    print(`${mark} ${step.name}: ${text} (${formatElapsed(step)})`);
  };

  return {
    print,
    stopSteps() {
      for (const step of runningSteps) end(step, "–", "stopped");
    },
    step(name) {
      const step: RunningStep = { name, what: "starting", startedMs: nowMs() };
      runningSteps.add(step);
      updateTimer();
      if (isTerminal) redraw("");

      return {
        update(what) {
          if (!runningSteps.has(step) || step.what === what) return;
          step.what = what;
          if (isTerminal) redraw("");
          else stream.write(`… ${name}: ${what}\n`);
        },
        done: (result) => end(step, "✓", result),
        fail: (reason) => end(step, "✗", reason),
      };
    },
  };
}
