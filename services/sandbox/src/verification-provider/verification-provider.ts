import type { FastifyInstance } from "fastify";
import type { Database } from "../database.ts";
import { createApplications } from "./applications.ts";
import { createCallbacks } from "./callbacks.ts";
import { startDelivery } from "./delivery.ts";
import { kycControl } from "./kyc-control.ts";
import { verificationPage } from "./pages/verification-page.ts";
import { startPassageOfTime } from "./passage-of-time.ts";
import { port } from "./port.ts";
import type { Provider } from "./provider.ts";

export interface VerificationProviderOptions extends Pick<Provider, "config" | "clock" | "faults"> {
  readonly database: Database;
  /** Known only once the process listens. */
  publicUrl(): string;
}

/** The stand-in for the verification provider: our port, the hosted flow, its callbacks, and the testers' calls. */
export async function verificationProvider(app: FastifyInstance, options: VerificationProviderOptions): Promise<void> {
  const { config, database, clock, faults, publicUrl } = options;
  const callbacks = createCallbacks(database);
  let woken: NodeJS.Immediate | undefined;
  const wake = () => {
    woken = undefined;
    time.wake();
    delivery.wake();
  };
  const applications = createApplications(database, clock, callbacks, () => {
    woken ??= setImmediate(wake);
  });
  const time = startPassageOfTime(applications, clock);
  const delivery = startDelivery({
    callbacks,
    faults,
    secrets: config.kycCallbackSecrets,
    retryMs: config.kycCallbackRetryMs,
    logger: app.log,
  });
  const provider: Provider = {
    config,
    clock,
    faults,
    applications,
    callbacks,
    linkUrl: ({ linkToken }) => `${publicUrl()}/verify/${linkToken}`,
  };

  port(app, provider);
  kycControl(app, provider);
  verificationPage(app, provider);

  app.addHook("onListen", async () => wake());
  app.addHook("onClose", async () => {
    time.stop();
    await delivery.stop();
    clearImmediate(woken);
  });
}
