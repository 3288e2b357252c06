import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { waitUntil } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { spawnServer } from "@amana/dev-env/server-process";
import { type ServiceName, serviceNames } from "@amana/dev-env/services";
import { request } from "undici";
import { stringify } from "yaml";
import { monitoring } from "./rules.ts";

/**
 * Path of the program prometheus. Its folder must also contain promtool. Debian: apt-get install
 * prometheus.
 */
export const prometheusPath = process.env["PROMETHEUS"];

if (!prometheusPath) {
  process.stderr.write(
    "SKIPPED the tests of rules, alerts and dashboards in Prometheus. Set PROMETHEUS, for example to /usr/bin/prometheus.\n",
  );
}

/** Runs promtool in deploy/monitoring. If promtool fails, throws an error with its output. */
export async function promtool(...args: string[]): Promise<string> {
  const program = join(dirname(prometheusPath ?? ""), "promtool");
  const result = await promisify(execFile)(program, args, { cwd: monitoring }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    },
  );
  return result.stdout;
}

/** All times in the rules are divided by this number, so that a minute becomes three seconds. */
const timeDivisor = 20;
const seconds = { m: 60, h: 3_600, d: 86_400 } as const;

/** Divides all windows, `for` times and age limits in the rules. Changes nothing else. */
function shortenTimes(rules: string): string {
  const shorten = (count: string, unit: string) => `${(Number(count) * seconds[unit as keyof typeof seconds]) / timeDivisor}s`;
  return rules
    .replaceAll(/\[(\d+)([mhd])\]/g, (_all, count: string, unit: string) => `[${shorten(count, unit)}]`)
    .replaceAll(/for: (\d+)([mhd])/g, (_all, count: string, unit: string) => `for: ${shorten(count, unit)}`)
    .replaceAll(
      /(_(?:oldest(?:_due)?|until_timestamp)_seconds.*> )(\d+)/g,
      (_all, before: string, age: string) => `${before}${Number(age) / timeDivisor}`,
    );
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Starts a Prometheus that scrapes these targets and evaluates the shortened rules. */
export async function startPrometheus(dir: string, metricsUrls: Readonly<Record<ServiceName, string>>) {
  await mkdir(dir, { recursive: true });
  for (const file of ["rules.yaml", "alerts.yaml"]) {
    await writeFile(join(dir, file), shortenTimes(await readFile(join(monitoring, file), "utf8")));
  }
  const jobs = serviceNames.map((name) => ({ job_name: name, static_configs: [{ targets: [new URL(metricsUrls[name]).host] }] }));
  const config = {
    // A service can wait two seconds for an unreachable database before it responds to a scrape.
    global: { scrape_interval: "3s", scrape_timeout: "3s", evaluation_interval: "1s" },
    rule_files: ["rules.yaml", "alerts.yaml"],
    scrape_configs: jobs,
  };
  await writeFile(join(dir, "prometheus.yaml"), stringify(config));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await spawnServer({
    command: prometheusPath ?? "",
    args: [
      "--config.file=prometheus.yaml",
      "--storage.tsdb.path=data",
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    cwd: dir,
    env: { PATH: process.env["PATH"] },
  });
  const isReady = async () =>
    (await request(`${url}/-/ready`).then(
      ({ statusCode }) => statusCode,
      () => 0,
    )) === 200;
  if (!(await waitUntil(isReady, 90_000))) throw new Error(`Prometheus did not start:\n${server.recentOutput()}`);
  const get = async <T>(path: string, form?: Record<string, string>): Promise<T> => {
    const body = form && new URLSearchParams(form).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await request(`${url}/api/v1/${path}`, body === undefined ? {} : { method: "POST", body, headers });
    const { status, data, error } = (await response.body.json()) as { status: string; data: T; error?: string };
    if (status !== "success") throw new Error(`${form?.["query"] ?? path}: ${error}`);
    return data;
  };

  return {
    /** Returns the current value of an expression. */
    async query(query: string): Promise<Series[]> {
      const { result } = await get<{ result: { metric: Record<string, string>; value: [number, string] }[] }>("query", { query });
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    /** Returns the labels of each alert that fires now. */
    async firingAlerts(): Promise<Readonly<Record<string, string>>[]> {
      const { alerts } = await get<{ alerts: { state: string; labels: Record<string, string> }[] }>("alerts");
      return alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels);
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;
