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
