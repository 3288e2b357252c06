import { waitUntil } from "@amana/dev-env/eventually";
import type { System } from "@amana/dev-env/system";
import { callSandbox } from "@amana/e2e/test-system";

const callbackMsMax = 90_000;

/** State of an application at the verification provider. */
export interface ProviderView {
  readonly provider_id: string;
  readonly verdict?: string;
  readonly callbacks: readonly { readonly state: string }[];
}

export const readProviderView = async (system: System, reference: string): Promise<ProviderView> =>
  (await callSandbox(system, "GET", `/sandbox/kyc?reference=${reference}`)) as ProviderView;

/** Waits until the provider has sent all callbacks of this application. */
export async function waitForCallbacks(system: System, reference: string): Promise<void> {
  await waitUntil(async () => {
    const { callbacks } = await readProviderView(system, reference);
    return callbacks.every(({ state }) => state !== "pending");
  }, callbackMsMax);
}
