import { currentTenant, forTenant } from "@amana/runtime";
import { expect, test } from "vitest";
import { createSetup, type ProviderSetup } from "./setup.ts";

const faulty: ProviderSetup<string> = { value: "settings", problems: [{ severity: "error", text: "AML is missing" }] };
const unread: ProviderSetup<string> = { value: undefined, problems: [{ severity: "error", text: "cannot be read" }] };
const complete: ProviderSetup<string> = { value: "settings", problems: [{ severity: "warning", text: "no monitoring" }] };

/**
 * Calls `usable` three times. Returns the three results and the number of reads. `results` contains
 * the result of each read.
 */
async function useThrice(results: readonly ProviderSetup<string>[]) {
  let reads = 0;
  const setup = createSetup(async () => results[reads++] ?? complete);
  const values: (string | undefined)[] = [];
  for (let use = 0; use < 3; use++) values.push(await setup.usable(1_000));
  return { values, reads };
}

test("`usable` of createSetup reads a configuration once for three calls if the configuration has no errors", async () => {
  expect(await useThrice([complete])).toEqual({ values: ["settings", "settings", "settings"], reads: 1 });
});

test("`usable` of createSetup reads the configuration again at the next call if the last read failed", async () => {
  expect(await useThrice([unread, unread])).toEqual({ values: [undefined, undefined, "settings"], reads: 3 });
});

test("`usable` of createSetup does not read the configuration again at the next call if the configuration has errors", async () => {
  expect(await useThrice([faulty])).toEqual({ values: [undefined, undefined, undefined], reads: 1 });
});

test("`usable` of createSetup returns the last usable configuration after a later read has failed", async () => {
  const results = [complete, unread];
  const setup = createSetup(async () => results.shift() ?? faulty);
  expect(await setup.usable(1_000)).toBe("settings");
  expect(await setup.probe()).toEqual(unread);
  expect(await setup.usable(1_000)).toBe("settings");
  await setup.probe();
  expect(await setup.usable(1_000)).toBeUndefined();
});

test("`usable` of createSetup waits only for its own time, and the read that it started serves a later call", async () => {
  const { promise, resolve } = Promise.withResolvers<ProviderSetup<string>>();
  const setup = createSetup(() => promise);
  expect(await setup.usable(1)).toBeUndefined();
  resolve(complete);
  expect(await setup.usable(10_000)).toBe("settings");
});

test("`usable` of createSetup reads the configuration as a call of no business", async () => {
  const tenants: (string | undefined)[] = [];
  const setup = createSetup(async () => {
    tenants.push(currentTenant());
    return complete;
  });
  await forTenant("019a0000-0000-7000-8000-000000000001", () => setup.usable(1_000));
  expect(tenants).toEqual(["*"]);
});
