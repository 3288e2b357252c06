import { SettingsError } from "@amana/runtime";
import { checkConfiguredProviders } from "./provider-commands.ts";

/**
 * Checks the providers' accounts with the settings of this process, as `amana kyc-provider check`
 * does. In the container image, the command is `node check-providers.js`. Exits with status 1 if a
 * check failed, and with status 2 if a setting is invalid.
 */
try {
  const results = await checkConfiguredProviders();
  for (const { provider, check, result, text } of results) {
    process.stdout.write(`${provider}  ${check}: ${result}${text === "" ? "" : `, ${text}`}\n`);
  }
  if (results.some(({ result }) => result === "failure")) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
