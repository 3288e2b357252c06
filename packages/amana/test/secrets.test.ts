import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { amanaWith } from "@amana/dev-env/run-amana";
import { uuidv7 } from "@amana/runtime";
import { createSecretBox } from "@amana/secret-box";
import { createTestDatabase } from "@amana/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { repair as kyc } from "../../../services/kyc/src/repair.ts";
import { repair as webhooks } from "../../../services/webhooks/src/repair.ts";

let stack: AsyncDisposableStack;
let dir: string;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  dir = await mkdtemp(join(tmpdir(), "amana-secrets-"));
  stack.defer(() => rm(dir, { recursive: true }));
});
afterEach(() => stack.disposeAsync());

const settingsIn = async (name: string) => {
  const lines = (await readFile(join(dir, name), "utf8")).split("\n").map((line) => /^([A-Z_]+)=(.*)$/.exec(line) ?? []);
  return Object.fromEntries(lines.flatMap(([, key, value]) => (key ? [[key, value ?? ""]] : [])));
};
const write = (name: string, ...lines: string[]) => writeFile(join(dir, name), `${lines.join("\n")}\n`);
const key = (byte: number) => Buffer.alloc(32, byte).toString("base64");

/** One step, with every check but those named by `flags`. */
async function rotate(secret: string, files: string[], env: Record<string, string>, ...flags: string[]) {
  const paths = files.map((file) => join(dir, file));
  return await amanaWith(env, "secrets", "rotate", secret, "--settings", ...paths, ...flags);
}

test("encryption keys: no step before the restart of the last, rows are encrypted anew before the old key goes, and nothing is shown", async () => {
  const [hooks, applications] = [
    stack.use(await createTestDatabase("webhooks", webhooks.database)),
    stack.use(await createTestDatabase("kyc", kyc.database)),
  ];
  const env = { WEBHOOKS_DATABASE_URL: hooks.url, KYC_DATABASE_URL: applications.url };
  const old = createSecretBox([{ id: "k1", key: Buffer.alloc(32, 1) }]);
  const ids = Array.from({ length: 600 }, () => uuidv7());
  for (const id of ids) {
    await hooks.orm.em.fork().execute(
      `insert into webhook_endpoint (id, business_id, url, status, events, secret_ciphertext, created_at, updated_at)
       values (?, ?, 'https://a.test', 'ACTIVE', '{}', ?, now(), now())`,
      [id, uuidv7(), old.encrypt(`secret of ${id}`, id)],
    );
  }
  await write("webhooks.env", "# of webhooks", `SECRET_ENCRYPTION_KEYS=k1:${key(1)}`, "EVENTS=kafka");
  await write("kyc.env", `SECRET_ENCRYPTION_KEYS="k1:${key(1)}"`);
  const files = ["webhooks.env", "kyc.env"];
  const shown: string[] = [];
  const step = async (...flags: string[]) => {
    const { code, out, err } = await rotate("encryption-key", files, env, ...flags);
    shown.push(out, err);
    return { code, text: out + err };
  };
  const entries = async () => (await settingsIn("webhooks.env"))["SECRET_ENCRYPTION_KEYS"]?.split(",") ?? [];

  expect(await step()).toMatchObject({ code: 0, text: expect.stringContaining("restart the replicas of webhooks, kyc") });
  const [first, made] = await entries();
  expect([first, await settingsIn("kyc.env")]).toEqual([`k1:${key(1)}`, { SECRET_ENCRYPTION_KEYS: `k1:${key(1)},${made}` }]);
  // The pools of this test are older than the step, as those of replicas are.
  expect(await step()).toMatchObject({ code: 1, text: expect.stringContaining("a replica was not restarted since") });
  expect(await step("--restarted")).toMatchObject({ code: 0 });
  expect(await entries()).toEqual([made, `k1:${key(1)}`]);
  expect(await step("--restarted")).toMatchObject({ code: 0, text: expect.stringContaining("600 secrets were encrypted anew") });
  expect(await entries()).toEqual([made]);

  const [id = "", base64 = ""] = made?.split(":") ?? [];
  const box = createSecretBox([{ id, key: Buffer.from(base64, "base64") }]);
  const rows = await hooks.orm.em
    .fork()
    .execute<{ id: string; text: string }[]>("select id, secret_ciphertext as text from webhook_endpoint");
  expect(rows).toHaveLength(600);
  for (const row of rows) expect(box.decrypt(row.text, row.id)).toBe(`secret of ${row.id}`);
  const trail = await hooks.orm.em.fork().execute<object[]>("select 1 from outbox where topic = 'audit.v1'");
  expect(trail).toHaveLength(2);
  for (const secret of [key(1), base64]) expect(shown.join()).not.toContain(secret);
  expect(await readFile(join(dir, "webhooks.env"), "utf8")).toMatch(/^# of webhooks\nSECRET_ENCRYPTION_KEYS=.*\nEVENTS=kafka\n$/);
  expect((await stat(join(dir, "kyc.env"))).mode & 0o777).toBe(0o600);
});

test("the old encryption key stays while there are rows that nobody could read without it", async () => {
  const hooks = stack.use(await createTestDatabase("webhooks", webhooks.database));
  const applications = stack.use(await createTestDatabase("kyc", kyc.database));
  const env = { WEBHOOKS_DATABASE_URL: hooks.url, KYC_DATABASE_URL: applications.url };
  const stranger = createSecretBox([{ id: "gone", key: Buffer.alloc(32, 9) }]);
  const id = uuidv7();
  await hooks.orm.em.fork().execute(
    `insert into webhook_endpoint (id, business_id, url, status, events, secret_ciphertext, created_at, updated_at)
     values (?, ?, 'https://a.test', 'ACTIVE', '{}', ?, now(), now())`,
    [id, uuidv7(), stranger.encrypt("secret", id)],
  );
  await write(
    "all.env",
    `SECRET_ENCRYPTION_KEYS=k2:${key(2)},k1:${key(1)}`,
    "# amana secrets rotate encryption-key: step 2 at 2026-11-01T00:00:00.000Z",
  );
  expect(await rotate("encryption-key", ["all.env"], env, "--restarted")).toMatchObject({
    code: 1,
    err: expect.stringContaining("1 secrets of webhooks"),
  });
  expect(await settingsIn("all.env")).toEqual({ SECRET_ENCRYPTION_KEYS: `k2:${key(2)},k1:${key(1)}` });
});

test("an event key touches its own topic alone, and the old one stays for as long as Kafka keeps what it signed", async () => {
  const other = `audit.v1=k1:${key(3)}`;
  await write("payments.env", `EVENT_MAC_KEYS=payments.v1=k1:${key(1)},${other}`);
  await write("webhooks.env", `EVENT_MAC_KEYS=${other},payments.v1=k1:${key(1)},kyc.v1=k1:${key(4)}`);
  await write("kyc.env", `EVENT_MAC_KEYS=kyc.v1=k1:${key(4)}`);
  const files = ["payments.env", "webhooks.env", "kyc.env"];
  const step = (...flags: string[]) => rotate("event-key:payments.v1", files, {}, ...flags);
  const ofPayments = async (file: string) =>
    (await settingsIn(file))["EVENT_MAC_KEYS"]?.split(",").filter((entry) => entry.startsWith("payments.v1=")) ?? [];
  await step();
  const [, made] = await ofPayments("payments.env");
  expect(await ofPayments("webhooks.env")).toEqual([`payments.v1=k1:${key(1)}`, made]);
  await step("--restarted");
  expect((await settingsIn("webhooks.env"))["EVENT_MAC_KEYS"]).toBe(
    `${other},${made},payments.v1=k1:${key(1)},kyc.v1=k1:${key(4)}`,
  );
  expect(await step("--restarted")).toMatchObject({ code: 1, err: expect.stringContaining("Too early") });
  expect(await ofPayments("payments.env")).toHaveLength(2);
  expect((await settingsIn("kyc.env"))["EVENT_MAC_KEYS"]).toBe(`kyc.v1=k1:${key(4)}`);
  expect(await step("--restarted", "--retention-hours", "0")).toMatchObject({
    code: 0,
    out: expect.stringContaining("the end of it"),
  });
  expect(await ofPayments("webhooks.env")).toEqual([made]);
});

test("a caller's key: both are believed before the new one vouches, and the old one no longer at the end", async () => {
  await write("gateway.env", "CALLER_PRIVATE_KEY=g1:oldprivate");
  await write("kyc.env", "CALLER_PRIVATE_KEY=y1:kycprivate", "GATEWAY_PUBLIC_KEYS=g1:oldpublic");
  await write("payments.env", "GATEWAY_PUBLIC_KEYS=g1:oldpublic");
  const files = ["gateway.env", "kyc.env", "payments.env"];
  const step = () => rotate("gateway-key", files, {}, "--restarted");
  const callerKey = async (file: string) => (await settingsIn(file))["CALLER_PRIVATE_KEY"];
  expect(await step()).toMatchObject({ code: 0, err: "" });
  const believed = (await settingsIn("payments.env"))["GATEWAY_PUBLIC_KEYS"] ?? "";
  expect(believed).toMatch(/^g1:oldpublic,k\d{8}-[0-9a-f]{4}:/);
  expect((await settingsIn("kyc.env"))["GATEWAY_PUBLIC_KEYS"]).toBe(believed);
  expect(await callerKey("gateway.env")).toBe("g1:oldprivate");
  await step();
  const id = believed.split(",")[1]?.split(":")[0];
  expect([await callerKey("gateway.env"), await callerKey("kyc.env")]).toEqual([
    expect.stringContaining(`${id}:`),
    "y1:kycprivate",
  ]);
  await step();
  expect((await settingsIn("payments.env"))["GATEWAY_PUBLIC_KEYS"]).toBe(believed.split(",")[1]);
  expect(Object.keys(await settingsIn("gateway.env"))).toEqual(["CALLER_PRIVATE_KEY"]);
});

test("settings that are files of a folder each are changed in place, and nothing else of the folder is", async () => {
  for (const [service, name, value] of [
    ["gateway", "CALLER_PRIVATE_KEY", "g1:oldprivate"],
    ["payments", "GATEWAY_PUBLIC_KEYS", "g1:oldpublic\n"],
    ["payments", "SATIM_PASSWORD", "stays as it is\n"],
  ] as const) {
    await mkdir(join(dir, service), { recursive: true });
    await writeFile(join(dir, service, name), value);
  }
  const content = (service: string, name: string) => readFile(join(dir, service, name), "utf8");
  const step = () => rotate("gateway-key", ["gateway", "payments"], {}, "--restarted");
  expect(await step()).toMatchObject({ code: 0, err: "" });
  const believed = await content("payments", "GATEWAY_PUBLIC_KEYS");
  expect(believed).toMatch(/^g1:oldpublic,k\d{8}-[0-9a-f]{4}:\S+$/);
  await step();
  await step();
  expect(await content("payments", "GATEWAY_PUBLIC_KEYS")).toBe(believed.split(",")[1]);
  expect(await content("gateway", "CALLER_PRIVATE_KEY")).toMatch(new RegExp(`^${believed.split(",")[1]?.split(":")[0]}:`));
  expect(await content("payments", "SATIM_PASSWORD")).toBe("stays as it is\n");
  expect((await readdir(join(dir, "gateway"))).sort()).toEqual([".rotations", "CALLER_PRIVATE_KEY"]);
});

test("a step that is killed between any two files is done whole by the next run, and no key is known to one service alone", async () => {
  // Ends the process before the n-th change of a file, as a crash does.
  await writeFile(
    join(dir, "kill.cjs"),
    `const fs = require("node:fs");
     let left = Number(process.env.KILL_AT);
     for (const name of ["renameSync", "rmSync"]) {
       const change = fs[name];
       fs[name] = (...args) => (--left === 0 ? process.kill(process.pid, "SIGKILL") : change(...args));
     }
     require("node:module").syncBuiltinESMExports();`,
  );
  const note = "# amana secrets rotate encryption-key: step 1 at 2026-11-01T00:00:00.000Z";
  const notesIn = async (folder: string, killedAt: string) => {
    const [notes, at = ""] = (await readFile(join(dir, folder, ".rotations"), "utf8")).split(" at ");
    return { notes, isOfAfter: at.trim() >= killedAt };
  };
  const tryKilledAt = async (killAt: number) => {
    const folders = ["webhooks", "kyc"].map((service) => `${killAt}-${service}`);
    for (const folder of folders) {
      await mkdir(join(dir, folder));
      await writeFile(join(dir, folder, "SECRET_ENCRYPTION_KEYS"), `k1:${key(1)},k2:${key(2)}`);
      await writeFile(join(dir, folder, ".rotations"), note);
    }
    const kill = { NODE_OPTIONS: `--require ${join(dir, "kill.cjs")}`, KILL_AT: String(killAt) };
    const { out } = await rotate("encryption-key", folders, kill, "--restarted");
    const killedAt = new Date().toISOString();
    const again = await rotate("encryption-key", [...folders].reverse(), {}, "--restarted", "--retention-hours", "0");
    const found = await Promise.all(
      folders.map(async (folder) => ({
        keys: await readFile(join(dir, folder, "SECRET_ENCRYPTION_KEYS"), "utf8"),
        ...(await notesIn(folder, killedAt)),
        others: (await readdir(join(dir, folder))).filter((name) => /rotating/.test(name)),
      })),
    );
    return { isKilled: out === "", again, found };
  };
  const tried = await Promise.all([1, 2, 3, 4, 5, 6].map(tryKilledAt));
  expect(tried.map(({ isKilled }) => isKilled)).toEqual([true, true, true, true, true, true]);
  const wanted = {
    keys: `k2:${key(2)},k1:${key(1)}`,
    notes: note.replace("step 1", "step 2").split(" at ")[0],
    isOfAfter: true,
    others: [],
  };
  for (const { again, found } of tried) {
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("The new key goes in front") });
    expect(found).toEqual([wanted, wanted]);
  }
});

test("files that are of different times, lack the secret, or are not there change nothing", async () => {
  await write("one.env", `FINGERPRINT_KEYS=${key(1)}`);
  await write("other.env", "PORT=1", "# amana secrets rotate fingerprint-key: step 1 at 2026-11-01T00:00:00.000Z");
  await write("older.env", "PORT=1", "# amana secrets rotate fingerprint-key: step 2 at 2026-11-01T00:00:00.000Z");
  expect(await rotate("fingerprint-key", ["one.env", "other.env", "older.env"], {})).toMatchObject({
    code: 1,
    err: expect.stringContaining("disagree"),
  });
  expect(await rotate("gateway-key", ["one.env"], {})).toMatchObject({
    code: 1,
    err: expect.stringContaining("gateway-key needs"),
  });
  expect(await rotate("gateway-key", ["none.env"], {})).toMatchObject({ code: 2 });
  expect(await settingsIn("one.env")).toEqual({ FINGERPRINT_KEYS: key(1) });
});
