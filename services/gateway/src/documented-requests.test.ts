import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documentedOperations } from "../test/documented-request.ts";
import { startTestGateway, type TestGateway } from "../test/harness.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Rules between fields, which the document can only tell in words: operation and field. */
const betweenFields = new Set([
  "updateOwnBusiness /previous_key_ttl_seconds",
  "createOnboardingDetails /account_purposes",
  "createOnboardingDetails /account_purposes_input",
  "updateOnboardingDetails /account_purposes",
  "updateOnboardingDetails /account_purposes_input",
]);

test.each(documentedOperations)("$id: what the document allows comes as far as a service", async ({ id, path, requests }) => {
  const isOperators = /^\/api\/v1\/(businesses|admin)|\/(approve|decline|review)$/.test(path);
  const key = isOperators ? gateway.admin : gateway.business;
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      gateway.received.length = 0;
      const { method, path: url, headers, body } = request;
      const answer = await gateway.app.inject({
        method,
        url,
        headers: { ...key.headers, ...headers },
        ...(body && { payload: body }),
      });
      if (gateway.received.length > 0) return;
      // A list of another organization's clients is empty without asking.
      if (answer.statusCode === 200) return;
      const errors: { pointer?: string }[] = answer.headers["content-type"]?.includes("problem")
        ? (answer.json().errors ?? [])
        : [];
      const excused = errors.length > 0 && errors.every(({ pointer }) => betweenFields.has(`${id} ${pointer}`));
      expect(excused ? [] : [answer.statusCode, answer.body]).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

test("all operations are tried", () => {
  expect(documentedOperations.length).toBeGreaterThan(50);
});
