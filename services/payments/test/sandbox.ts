import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const credentials = { userName: "merchant", password: "s3cret-credential" };

export interface TestCard {
  readonly pan: string;
  readonly expiry: string;
  readonly cvv2: string;
}

export const validCard: TestCard = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373" };

/** What the sandbox's own books say of an order. */
export interface SandboxOrder {
  readonly orderId: string;
  readonly orderNumber: string;
  readonly orderStatus: number;
  readonly depositedAmount: number;
  readonly refundedAmount: number;
  readonly confirmed: boolean;
  readonly formUrl: string;
  readonly calls: readonly { readonly operation: string; readonly parameters: Readonly<Record<string, string>> }[];
}

const main = join(import.meta.dirname, "..", "..", "sandbox", "src", "main.ts");

/** The card processor's stand-in as a process of its own, with its books in memory. Disposing ends it. */
export async function startSandbox(numbersAsStrings: boolean) {
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env["PATH"],
      HOST: "127.0.0.1",
      SANDBOX_PORT: "0",
      SATIM_USERNAME: credentials.userName,
      SATIM_PASSWORD: credentials.password,
      NUMBERS_AS_STRINGS: String(numbersAsStrings),
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
    // 404: no such order, but the calls that asked for it are there.
    if (!answer.ok && answer.status !== 404) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };

  return {
    url,
    pay: (orderId: string | undefined, card: TestCard = validCard) =>
      control<{ redirect_url?: string }>("POST", `payments/${orderId}/pay`, { ...card, password: "123456" }),
    cancel: (orderId: string | undefined) => control("POST", `payments/${orderId}/cancel`),
    order: (orderId: string | undefined) => control<SandboxOrder>("GET", `payments/${orderId}`),
    byNumber: (orderNumber: string) => control<SandboxOrder>("GET", `payments?orderNumber=${orderNumber}`),
    fault: (operation: string, mode: string, times = 1) => control("PUT", "faults", { operation, mode, times }),
    clearFaults: () => control("DELETE", "faults"),
    advance: (seconds: number) => control("POST", "clock", { advance_seconds: seconds }),
    /** A call of the processor's own protocol that is not this service's: what its back office does. */
    async elsewhere(path: string, parameters: Record<string, string>): Promise<unknown> {
      const body = new URLSearchParams({ ...credentials, ...parameters });
      return await (await fetch(`${url}/payment/rest/${path}`, { method: "POST", body })).json();
    },
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
