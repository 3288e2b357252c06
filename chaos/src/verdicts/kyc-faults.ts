import type { KycProvider } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { callSandbox } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

const callbackModes = ["duplicate", "reorder", "drop", "reset_after", "bad_signature", "http_500", "truncated"];
const responseModes = ["http_503", "timeout_before", "timeout_after", "reset_after", "truncated", "html_200", "slow:700"];
const operationsOf: Readonly<Record<KycProvider, readonly string[]>> = {
  port: ["kyc_create", "kyc_get", "kyc_review"],
  didit: ["kyc_create", "kyc_get", "kyc_review"],
  sumsub: ["kyc_create", "kyc_link", "kyc_get", "kyc_aml", "kyc_review"],
};
const kinds = ["callbacks", "kill", "responses", "freeze"] as const;
/** Maximum number of faults. If kyc were killed without end, it would never complete its work. */
const faultsMax = 10;

interface FaultsContext {
  readonly system: System;
  readonly kycProvider: KycProvider;
  /** Settings with which a killed kyc starts again. */
  readonly kycSettings: Record<string, string>;
  readonly report: Report;
}

/**
 * Injects up to `faultsMax` faults until `signal` is aborted, but at least one of each kind. The
 * kinds are faulty callbacks, faulty responses of the provider, kills of kyc and freezes of kyc.
 * Removes all faults at the end.
 */
export async function injectKycFaults(
  { system, kycProvider, kycSettings, report }: FaultsContext,
  random: Random,
  signal: AbortSignal,
) {
  const { kyc } = system.services;
  const setFault = (operation: string, mode: string) =>
    callSandbox(system, "PUT", "/sandbox/faults", { operation, mode, times: random.integer(1, 4) });
  const inject = {
    async callbacks() {
      const mode = random.pick(callbackModes);
      await setFault("kyc_callback", mode);
      report.count("faults of callbacks");
    },
    async responses() {
      await setFault(random.pick(operationsOf[kycProvider]), random.pick(responseModes));
      report.count("faults of responses");
    },
    async kill() {
      await kyc.kill();
      await sleep(random.integer(0, 500));
      await kyc.start(kycSettings);
      report.count("kyc killed (-9)");
    },
    async freeze() {
      const pid = kyc.pid();
      if (pid === undefined) throw new Error("kyc is not running");
      process.kill(pid, "SIGSTOP");
      // With a probability of one fifth, the freeze is longer than the lease of a row.
      await sleep(random.chance(0.2) ? 7_000 : random.integer(200, 1_500));
      process.kill(pid, "SIGCONT");
      report.count("kyc frozen");
    },
  };
  for (let i = 0; i < faultsMax && !(i >= kinds.length && signal.aborted); i++) {
    await sleep(random.integer(200, 1_000), i < kinds.length ? undefined : signal);
    await inject[kinds[i] ?? random.pick(kinds)]();
  }
  await callSandbox(system, "DELETE", "/sandbox/faults");
}
