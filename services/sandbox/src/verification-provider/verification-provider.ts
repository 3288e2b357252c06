import type { FastifyInstance } from "fastify";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../database.ts";
import type { Faults } from "../faults.ts";
import type { Application } from "./application.ts";
import { type Applications, createApplications } from "./applications.ts";
import { type Callbacks, createCallbacks } from "./callbacks.ts";
import { startDelivery } from "./delivery.ts";
import { kycControl } from "./kyc-control.ts";
import { verificationPage } from "./pages/verification-page.ts";
import { startPassageOfTime } from "./passage-of-time.ts";
import { port } from "./port.ts";

export interface Provider {
  readonly config: Config;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly applications: Applications;
  readonly callbacks: Callbacks;
  linkUrl(application: Application): string;
}

export interface VerificationProviderOptions {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly faults: Faults;
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
