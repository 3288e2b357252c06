import { expect, test } from "vitest";
import { providerToken, startSandbox } from "../../test/sandbox.ts";
import { createHttpProvider } from "./http-provider.ts";

test("createHttpProvider accepts a timeout with fractions of milliseconds", async () => {
  await using sandbox = await startSandbox();
  const { url } = sandbox;
  await using provider = createHttpProvider({ url, token: providerToken, callbackUrl: url, timeoutMs: 60_000 });
  const expectedOutcome = { kind: "refused", status: 404, errorCode: "unknown_application" };
  expect(await provider.get("ver_unknown", 4_321.0123)).toEqual(expectedOutcome);
});
