import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestGateway, type TestGateway } from "../../test/harness.ts";
import { bodyOf, compileBody } from "./body.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const send = async (body: object) => {
  const { headers } = gateway.business;
  const response = await gateway.app.inject({ method: "POST", url: "/api/v1/beneficiaries", headers, payload: body });
  return { status: response.statusCode, length: response.rawPayload.length, ...response.json() };
};
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`unknown_${i}`, i]));
const longKey = "k".repeat(500_000);

describe("a 422 response", () => {
  test("the gateway's 422 response to exactly 100 errors lists all errors and does not contain `more_errors`", async () => {
    const { status, errors, more_errors } = await send({ ...fields(98) });
    // Besides the 98 unknown fields, two required fields are missing.
    expect([status, errors.length, more_errors]).toEqual([422, 100, undefined]);
  });

  test("the gateway's 422 response to 9 000 unknown fields lists 100 errors and contains `more_errors: true`", async () => {
    const { status, errors, more_errors, length } = await send(fields(9_000));
    expect([status, errors.length, more_errors]).toEqual([422, 100, true]);
    expect(length).toBeLessThan(20_000);
  });

  test("compileBody reads at most 101 of 9 000 unknown fields", () => {
    let reads = 0;
    const body = new Proxy(fields(9_000), {
      get: (target, name) => {
        reads++;
        return Reflect.get(target, name);
      },
    });
    expect(() => compileBody(bodyOf({}, {}))(body)).toThrow("Correct these fields");
    expect(reads).toBeLessThanOrEqual(101);
  });

  test("the gateway's 422 response lists the known fields once, in the first error about an unknown field", async () => {
    const { errors } = await send(fields(100));
    const messages: string[] = errors.map(({ message }: { message: string }) => message);
    expect(messages[0]).toMatch(/^is unknown; known fields: client_id, /);
    expect(messages.filter((message) => message.includes("known fields"))).toHaveLength(1);
  });

  test.each([
    ["a long unknown field", { [longKey]: 1 }],
    ["200 invalid texts in an array with a long key", { [longKey]: Array(200).fill("\0") }],
    ["a long key with NUL", { [`${longKey}\0`]: 1 }],
  ])("the gateway's 422 response to %s has fewer than 100 000 bytes", async (_name, body) => {
    const { status, errors, length } = await send(body);
    expect([status, errors[0].pointer.length < 520]).toEqual([422, true]);
    expect(length).toBeLessThan(100_000);
  });

  test("the gateway's 422 response to 1 000 unknown query parameters lists 100 errors and contains `more_errors: true`", async () => {
    const query = Array.from({ length: 1_000 }, (_, i) => `unknown_${i}=1`).join("&");
    const { headers } = gateway.business;
    const response = await gateway.app.inject({ url: `/api/v1/beneficiaries?${query}`, headers });
    const { errors, more_errors } = response.json();
    expect([response.statusCode, errors.length, more_errors]).toEqual([422, 100, true]);
    expect(response.rawPayload.length).toBeLessThan(20_000);
  });

  test("the gateway returns 422 for an unknown query parameter that follows 200 known parameters", async () => {
    const { headers } = gateway.business;
    for (const knownParameter of ["limit=1", "search=a"]) {
      const url = `/api/v1/beneficiaries?${`${knownParameter}&`.repeat(200)}unknown=1`;
      expect((await gateway.app.inject({ url, headers })).statusCode).toBe(422);
    }
  });
});
