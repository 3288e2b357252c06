import { eventually } from "@amana/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startNameServer } from "../../test/name-server.ts";
import { ConcurrencyLimits } from "../delivery/concurrency-limits.ts";
import { validateUrl } from "../webhook-endpoint/validate-url.ts";
import { type AddressGuard, createAddressGuard } from "./address-guard.ts";
import { createHttpClient } from "./http-client.ts";
import { createNameResolver } from "./resolve-name.ts";

const addressesOf = (ipv4Count: number, ipv6Count: number) => [
  ...Array.from({ length: ipv4Count }, (_, i) => [93, 184, 215, i + 1]),
  ...Array.from({ length: ipv6Count }, (_, i) => [0x26, 0x06, 0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, i + 1]),
];
const tooManyAddresses = "the host name has more than 32 addresses";

let server: Awaited<ReturnType<typeof startNameServer>>;
let guard: AddressGuard;
beforeAll(async () => {
  server = await startNameServer({
    "few.test": addressesOf(1, 0),
    "32.test": addressesOf(20, 12),
    "33.test": addressesOf(20, 13),
    "private.test": [[10, 0, 0, 1]],
  });
});
beforeEach(() => {
  server.queries.splice(0);
  guard = createAddressGuard({ allowInsecure: false, resolve: createNameResolver([server.address]) });
});
afterAll(() => server[Symbol.asyncDispose]());

test("the address guard sends one A and one AAAA query for 20 concurrent calls for a host name, and two more for a later call", async () => {
  const results = await Promise.all(Array.from({ length: 20 }, () => guard.resolve("few.test")));
  expect(results).toEqual(Array(20).fill([{ address: "93.184.215.1", family: 4 }]));
  expect(server.queries).toEqual(["few.test", "few.test"]);
  await guard.resolve("few.test");
  expect(server.queries).toHaveLength(4);
});

test("the address guard accepts a host name with 32 addresses", async () => {
  expect(await guard.resolve("32.test")).toHaveLength(32);
});

test("the address guard refuses a host name with 33 addresses", async () => {
  await expect(guard.resolve("33.test")).rejects.toThrow(tooManyAddresses);
});

test("the webhook HTTP client returns DNS_ERROR for a host name with 33 addresses", async () => {
  const limits = new ConcurrencyLimits({ total: 64, perBusiness: 64, perEndpoint: 64 });
  await using client = createHttpClient({ addresses: guard, timeoutMs: 10_000, limits });
  const sender = { businessId: "business", slotWaitMs: 1_000 };
  const outcome = await client.post(sender, new URL("https://33.test/"), {}, Buffer.from("{}"));
  expect(outcome?.failure).toEqual({ code: "DNS_ERROR", detail: tooManyAddresses });
});

test("validateUrl accepts a host name with 33 addresses", async () => {
  expect(await validateUrl("https://33.test/", guard, "a")).toBeUndefined();
});

test("validateUrl resolves two names of a business at once, and meanwhile checks a name of another business and an IP address", async () => {
  const checks = Array.from({ length: 10 }, (_, i) => validateUrl(`https://silent${i}.test/`, guard, "a"));
  await eventually(() => expect(new Set(server.queries)).toEqual(new Set(["silent0.test", "silent1.test"])));
  expect((await validateUrl("https://private.test/", guard, "b"))?.code).toBe("url_not_public");
  expect((await validateUrl("https://10.0.0.1/", guard, "a"))?.code).toBe("url_not_public");
  expect(new Set(server.queries)).toEqual(new Set(["silent0.test", "silent1.test", "private.test"]));
  expect(await Promise.all(checks)).toEqual(Array(10).fill(undefined));
});

test("the webhook HTTP client returns DNS_ERROR for a host name that is an alias of a name without addresses", async () => {
  const limits = new ConcurrencyLimits({ total: 64, perBusiness: 64, perEndpoint: 64 });
  const addresses = createAddressGuard({ allowInsecure: true, resolve: async () => [] });
  await using client = createHttpClient({ addresses, timeoutMs: 10_000, limits });
  for (const protocol of ["http", "https"]) {
    const sender = { businessId: "business", slotWaitMs: 1_000 };
    const outcome = await client.post(sender, new URL(`${protocol}://alias.test/`), {}, Buffer.from("{}"));
    expect(outcome).toMatchObject({ failure: { code: "DNS_ERROR" }, hasConnected: false });
  }
});
