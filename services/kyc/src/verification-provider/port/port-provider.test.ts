import { expect, test } from "vitest";
import { anApplication } from "../../../test/an-application.ts";
import { providerToken, startSandbox } from "../../../test/sandbox.ts";
import { createPortProvider } from "./port-provider.ts";

test("`get` of the client of the provider `port` accepts a timeout that is not a whole number of milliseconds", async () => {
  await using sandbox = await startSandbox();
  const { url } = sandbox;
  await using provider = createPortProvider({
    url,
    token: providerToken,
    callbackUrl: url,
    callbackSecrets: [],
    timeoutMs: 60_000,
  });
  const expectedOutcome = { kind: "refused", status: 404, errorCode: "unknown_application", isGone: true };
  expect(await provider.get({ ...anApplication().toKnownApplication(), providerId: "ver_unknown" }, 4_321.0123)).toEqual(
    expectedOutcome,
  );
});
