import { createLogger } from "@amana/runtime";
import { describe, expect, test, vi } from "vitest";
import { toProviders } from "./providers.ts";
import type { VerificationProvider } from "./verification-provider.ts";

const port = { name: "port" } as VerificationProvider;

describe("toProviders", () => {
  test("`providerOf` of toProviders throws kyc_provider_unavailable and logs an alert for a provider without settings", () => {
    const logger = createLogger("kyc", "silent");
    const error = vi.spyOn(logger, "error");
    const providers = toProviders("port", [port], logger);
    expect(providers.providerOf({ provider: "port" })).toBe(port);
    expect(() => providers.providerOf({ provider: "didit" })).toThrow(
      expect.objectContaining({ code: "kyc_provider_unavailable" }),
    );
    expect(error.mock.calls).toMatchObject([[{ alert: true, provider: "didit" }, expect.any(String)]]);
  });
});
