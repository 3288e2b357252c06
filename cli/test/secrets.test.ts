import { execAmana } from "@amana/e2e/run-amana";
import { repair as kyc } from "@amana/kyc/repair";
import { uuidv7 } from "@amana/runtime";
import { createSecretBox, type SecretBox } from "@amana/secret-box";
import { createTestDatabase, type TestDatabase } from "@amana/testing";
import { repair as webhooks } from "@amana/webhooks/repair";
import { afterEach, beforeEach, expect, test } from "vitest";

let stack: AsyncDisposableStack;
let hooks: TestDatabase;
let applications: TestDatabase;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  hooks = stack.use(await createTestDatabase("webhooks", webhooks.database));
  applications = stack.use(await createTestDatabase("kyc", kyc.database));
});
afterEach(() => stack.disposeAsync());

const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const oldBox = createSecretBox([{ id: "k1", key: oldKey }]);
const keys = `k2:${newKey.toString("base64")},k1:${oldKey.toString("base64")}`;

async function reencrypt(env: Record<string, string> = {}) {
  const databases = { WEBHOOKS_DATABASE_URL: hooks.url, KYC_DATABASE_URL: applications.url };
  return await execAmana({ ...databases, SECRET_ENCRYPTION_KEYS: keys, ...env }, "secrets", "reencrypt", "--json");
}

async function addEndpoint(box: SecretBox): Promise<string> {
  const id = uuidv7();
  await hooks.orm.em.fork().execute(
    `insert into webhook_endpoint (id, business_id, url, status, events, secret_ciphertext, created_at, updated_at)
     values (?, ?, 'https://a.test', 'ACTIVE', '{}', ?, now(), now())`,
    [id, uuidv7(), box.encrypt(`secret of ${id}`, id)],
  );
  return id;
}

const endpoints = () =>
  hooks.orm.em
    .fork()
    .execute<{ id: string; text: string }[]>("select id, secret_ciphertext as text from webhook_endpoint order by id");

test("`amana secrets reencrypt` encrypts every secret with the first key in SECRET_ENCRYPTION_KEYS and adds audit rows, and a second run changes no secret", async () => {
  for (let i = 0; i < 600; i++) await addEndpoint(oldBox);
  const { code, out, err } = await reencrypt();
  expect({ code, err, rows: JSON.parse(out) }).toEqual({
    code: 0,
    err: "",
    rows: [
      { service: "kyc", key: "k2", reencrypted: 0 },
      { service: "webhooks", key: "k2", reencrypted: 600 },
    ],
  });
  const newBox = createSecretBox([{ id: "k2", key: newKey }]);
  const rows = await endpoints();
  expect(rows).toHaveLength(600);
  for (const { id, text } of rows) expect(newBox.decrypt(text, id)).toBe(`secret of ${id}`);
  // Each of the two transactions encrypts at most 500 secrets and adds one audit row.
  expect(await hooks.orm.em.fork().execute("select 1 from outbox where topic = 'audit.v1'")).toHaveLength(2);
  for (const key of [oldKey, newKey]) expect(out).not.toContain(key.toString("base64"));
  expect(JSON.parse((await reencrypt()).out)).toMatchObject([{ reencrypted: 0 }, { reencrypted: 0 }]);
});

test("`amana secrets reencrypt` exits with code 1 when the key of one secret is missing, and encrypts the other secrets", async () => {
  const readable = await addEndpoint(oldBox);
  const unreadable = await addEndpoint(createSecretBox([{ id: "gone", key: Buffer.alloc(32, 9) }]));
  expect(await reencrypt()).toMatchObject({ code: 1, out: "", err: expect.stringContaining("1 secrets of webhooks") });
  const keyIds = (await endpoints()).map(({ id, text }) => [id, text.split(":")[0]]);
  expect(keyIds).toEqual([
    [readable, "k2"],
    [unreadable, "gone"],
  ]);
});

test("`amana secrets reencrypt` changes no secret when a database does not respond or SECRET_ENCRYPTION_KEYS is empty", async () => {
  const id = await addEndpoint(oldBox);
  const unreachable = await reencrypt({ KYC_DATABASE_URL: "postgres://amana:wrong-secret@127.0.0.1:9/none" });
  expect(unreachable).toMatchObject({ code: 3, out: "", err: expect.stringContaining("database of kyc does not respond") });
  expect(unreachable.err).not.toContain("wrong-secret");
  expect(await reencrypt({ SECRET_ENCRYPTION_KEYS: "" })).toMatchObject({
    code: 1,
    err: expect.stringContaining("SECRET_ENCRYPTION_KEYS"),
  });
  expect((await endpoints()).map(({ id, text }) => [id, text.split(":")[0]])).toEqual([[id, "k1"]]);
});
