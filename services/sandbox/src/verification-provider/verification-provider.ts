import type { FastifyInstance } from "fastify";
import type { Context } from "../context.ts";
import { createReceivedCalls } from "../received-calls.ts";
import { createWakeTimer } from "../wake-timer.ts";
import { createApplications } from "./applications.ts";
import { createCallbacks } from "./callbacks.ts";
import { startDelivery } from "./delivery.ts";
import { diditApi } from "./didit/didit-api.ts";
import { kycControl } from "./kyc-control.ts";
import type { KycSetup } from "./kyc-setup.ts";
import { verificationPage } from "./pages/verification-page.ts";
import { providerApi } from "./provider-api.ts";
import { sumsubApi } from "./sumsub/sumsub-api.ts";

/** Simulates the verification provider: API, hosted pages, callbacks and control calls. */
export async function verificationProvider(app: FastifyInstance, context: Context): Promise<void> {
  const { database, clock } = context;
  const setup: KycSetup = { callbackUrl: context.config.kycCallbackUrl, diditWorkflow: {}, sumsubLevel: {}, webhook: {} };
  const callbacks = createCallbacks(database, setup);
  const wake = () => {
    timer.wake();
    delivery.wake();
  };
  const applications = createApplications(context, callbacks, wake);
  // Applies decisions and the expiry of links at their time on the sandbox's clock, even without
  // requests.
  const timer = createWakeTimer(() => {
    const nextMs = applications.applyAllDueChanges();
    return nextMs && nextMs - clock.nowMs();
  });
  clock.onAdvance(timer.wake);
  const delivery = startDelivery(context, callbacks, app.log);
  const calls = createReceivedCalls(database, "kyc_call", "provider_id", "reference");
  const provider = { ...context, applications, callbacks, calls, setup };

  providerApi(app, provider);
  app.register((vendorApp) => diditApi(vendorApp, provider), { prefix: "/didit" });
  app.register((vendorApp) => sumsubApi(vendorApp, provider), { prefix: "/sumsub" });
  kycControl(app, provider);
  verificationPage(app, provider);

  app.addHook("onListen", async () => wake());
  app.addHook("onClose", async () => {
    timer.stop();
    await delivery.stop();
  });
}
