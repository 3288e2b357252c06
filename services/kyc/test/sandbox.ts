import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const providerToken = "s3cret-provider-token";
export const callbackSecret = "provider-callback-secret";

export interface Submission {
  readonly outcome: "approved" | "rejected" | "needs_review" | "failed";
  readonly reason_codes?: readonly string[];
  readonly document_type?: string;
  readonly document_expiry?: string;
  readonly nationality?: string;
  readonly aml_hit_count?: number;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly birth_date?: string;
  readonly hold_seconds?: number;
}

/** What the sandbox's own books say of an application. */
export interface SandboxApplication {
  readonly provider_id: string;
  readonly status: string;
  readonly sequence: number;
  readonly calls: readonly { readonly operation: string; readonly parameters: Readonly<Record<string, unknown>> }[];
  readonly callbacks: readonly { readonly state: string; readonly type: string }[];
}

const main = join(import.meta.dirname, "..", "..", "sandbox", "src", "main.ts");

/** The verification provider's stand-in as a process of its own, with its books in memory. Disposing ends it. */
export async function startSandbox() {
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env["PATH"],
      HOST: "127.0.0.1",
      SANDBOX_PORT: "0",
      KYC_PROVIDER_TOKEN: providerToken,
      KYC_CALLBACK_SECRET: callbackSecret,
      KYC_CALLBACK_RETRY_SECONDS: "0.2,0.5,1,2,5",
      LOG_LEVEL: "info",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const url = await urlOf(child);

  const control = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${url}/sandbox/${path}`, {
      method,
      ...(body ? { headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {}),
    });
    // 404: no such application, but the calls that asked for it are there.
    if (!answer.ok && answer.status !== 404) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  const onLink = (linkUrl: string | undefined, action: string, body: object = {}) =>
    control("POST", `kyc/${(linkUrl ?? "").split("/").at(-1)}/${action}`, body);

  return {
    url,
    open: (linkUrl: string | undefined) => onLink(linkUrl, "open"),
    submit: (linkUrl: string | undefined, submission: Submission) => onLink(linkUrl, "submit", submission),
    review: (linkUrl: string | undefined, outcome: string) => onLink(linkUrl, "review", { outcome }),
    expire: (linkUrl: string | undefined) => onLink(linkUrl, "expire"),
    application: (reference: string) => control<SandboxApplication>("GET", `kyc?reference=${reference}`),
    fault: (operation: string, mode: string, times = 1) => control("PUT", "faults", { operation, mode, times }),
    clearFaults: () => control("DELETE", "faults"),
    async [Symbol.asyncDispose]() {
      process.off("exit", kill);
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** Reads on after the address came: output that nobody reads would stop the process once the pipe is full. */
function urlOf(child: ChildProcess): Promise<string> {
  const { stdout } = child;
  if (!stdout) throw new Error("the sandbox's output is not there");
  return new Promise((resolve, reject) => {
    createInterface(stdout).on("line", (line) => {
      const { url } = JSON.parse(line) as { url?: string };
      if (url !== undefined) resolve(url);
    });
    child.once("exit", () => reject(new Error("the sandbox ended before it served")));
  });
}
