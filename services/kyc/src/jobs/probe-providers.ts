import type { Context } from "../context.ts";

/**
 * Reads the configuration at each vendor, and logs an alert line if a required check is missing. In
 * this case, no application can be created at that vendor until an operator corrects the
 * configuration.
 */
export async function probeProviders({ providers, logger }: Context): Promise<number> {
  for (const { name, probe } of providers.all) {
    if (!probe) continue;
    for (const { severity, text } of await probe()) {
      if (severity === "error")
        logger.error({ alert: true, provider: name, problem: text }, "configuration at the verification provider incomplete");
      else
        logger.warn(
          { provider: name, problem: text },
          "configuration at the verification provider differs from Amana's recommendation",
        );
    }
  }
  return 0;
}
