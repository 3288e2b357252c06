import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller } from "@amana/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ deliver: false });
});
afterAll(() => harness[Symbol.asyncDispose]());

test("an endpoint is read without its secret", async () => {
  const caller = aBusinessCaller();
  const created = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller });
  expect(await harness.endpoints.getWebhookEndpoint({ id: created.id }, { caller })).toEqual({ ...created, secret: undefined });
});

test("another business's endpoint, an unknown id and a malformed one are refused alike", async () => {
  const { id } = await harness.endpoints.createWebhookEndpoint({ url: "http://127.0.0.1/" }, { caller: aBusinessCaller() });
  const refusals = await Promise.all(
    [id, uuidv7(), "nonsense", ""].map((each) =>
      harness.endpoints.getWebhookEndpoint({ id: each }, { caller: aBusinessCaller() }).catch((error: unknown) => error),
    ),
  );
  for (const refusal of refusals) expect(refusal).toEqual(refusals[1]);
  expect(refusals[0]).toMatchObject({ kind: "not_found", code: "not_found" });
});
