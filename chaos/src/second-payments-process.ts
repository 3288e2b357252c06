import { freePort } from "@amana/dev-env/free-port";
import { createServiceProcess, type ServiceProcess } from "@amana/dev-env/service-process";
import { loopbackUrl } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";

/** A second payments process, and settings with which the gateway calls both processes. */
export interface SecondPaymentsProcess extends AsyncDisposable {
  readonly replica: ServiceProcess;
  readonly gatewaySettings: Record<string, string>;
}

/**
 * Starts a second payments process on the same database, and makes the gateway call both processes.
 */
export async function startSecondPaymentsProcess(
  system: System,
  settings: Record<string, string> = {},
): Promise<SecondPaymentsProcess> {
  const port = await freePort();
  const env = { ...system.envOf("payments"), ...settings, RPC_PORT: String(port) };
  const replica = createServiceProcess({
    name: "payments",
    env,
    port,
    logDir: system.logDir,
    supervised: false,
    onCrash: () => {},
  });
  await replica.start();
  const gatewaySettings = { PAYMENTS_URLS: [system.rpcPorts.payments, port].map((rpcPort) => loopbackUrl(rpcPort)).join() };
  await system.services.gateway.kill();
  await system.services.gateway.start(gatewaySettings);
  await system.waitUntilReady();
  return { replica, gatewaySettings, [Symbol.asyncDispose]: () => replica.stop() };
}
