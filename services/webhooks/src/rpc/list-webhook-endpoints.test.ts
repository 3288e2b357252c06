import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

test("listWebhookEndpoints returns the business's endpoints in pages, newest first and without secrets", async () => {
  const caller = aBusinessCaller();
  const ids: string[] = [];
  for (let number = 0; number < 3; number++)
    ids.unshift((await harness.endpoints.createWebhookEndpoint({ url: `http://127.0.0.1/${number}` }, { caller })).id);
  await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/other" }, { caller: aBusinessCaller() });

  const page = await harness.endpoints.listWebhookEndpoints({ limit: 2, offset: 1 }, { caller });
  expect(page.total).toBe(3);
  expect(page.webhookEndpoints.map(({ id }) => id)).toEqual(ids.slice(1));
  for (const { secret } of page.webhookEndpoints) expect(secret).toBeUndefined();
});
