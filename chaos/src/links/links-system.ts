import type { ServiceProcess } from "@amana/dev-env/service-process";
import type { System } from "@amana/dev-env/system";
import { aBusiness, startTestSystem, type TestBusiness } from "@amana/e2e/test-system";
import pg from "pg";
import { Clock } from "../events/clock.ts";
import { applicationName } from "../refunds/inject-faults.ts";
import { startSecondPaymentsProcess } from "../second-payments-process.ts";

/**
 * Time within which a buyer must pay, after which the payment loses its slot. The sandbox also
 * accepts later payments.
 */
export const windowSeconds = 6;

const paymentSettings = {
  SATIM_TIMEOUT_MS: "1500",
  PAYMENT_WINDOW_SECONDS: String(windowSeconds),
  PAYMENT_CHECK_SECONDS: "1,1,2",
  EXPIRED_REREAD_SECONDS: "2,4,8,15,30",
};

export interface LinksSystem extends AsyncDisposable {
  readonly system: System;
  /** Connections to the database of payments. */
  readonly database: pg.Pool;
  /** Business that is never disabled. */
  readonly seller: TestBusiness;
  /** Business that the program disables and enables. */
  readonly disabled: TestBusiness;
  /** Processes that the program kills and freezes. `start` uses their original settings. */
  readonly replicas: readonly Pick<ServiceProcess, "kill" | "start" | "pid">[];
  /** Wall clocks of the payments processes. */
  readonly clocks: readonly Clock[];
}

/** Starts a system with two payments processes whose clocks can be stepped, and two businesses. */
export async function startLinksSystem(): Promise<LinksSystem> {
  await using stack = new AsyncDisposableStack();
  // Disables the captcha, because its proof of work would take processor time from the attack.
  const settings = { gateway: { CHECKOUT_CAPTCHA: "off" }, payments: paymentSettings };
  const { system } = stack.use(await startTestSystem("direct", settings));
  const { payments, gateway } = system.services;
  const clocks = [new Clock(system.logDir, "payments-1"), new Clock(system.logDir, "payments-2")];
  await payments.stop();
  await payments.start(clocks[0]?.env);
  const second = stack.use(await startSecondPaymentsProcess(system, clocks[1]?.env));
  const database = new pg.Pool({
    connectionString: system.databaseUrls["payments"] ?? "",
    application_name: applicationName,
    max: 4,
  });
  database.on("error", () => {});
  stack.defer(() => database.end());
  const seller = await aBusiness(system, "Librairie", ["PAYMENT_COMPLETED", "PAYMENT_LINK_COMPLETED"]);
  stack.use(seller.receiver);
  const disabled = await aBusiness(system, "Ferme", ["PAYMENT_COMPLETED"]);
  stack.use(disabled.receiver);
  const resources = stack.move();
  return {
    system,
    database,
    seller,
    disabled,
    replicas: [
      withSettings(payments, clocks[0]?.env),
      withSettings(second.replica, {}),
      withSettings(gateway, second.gatewaySettings),
    ],
    clocks,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const withSettings = (process: ServiceProcess, settings: Record<string, string> = {}) => ({
  kill: () => process.kill(),
  start: () => process.start(settings),
  pid: () => process.pid(),
});
