import { randomUUID } from "node:crypto";
import type { ApiResponse } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { anOrder, aPaidPayment, aPerson, type TestBusiness } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

interface Entry {
  readonly path: string;
  /** The fields of the response that never change. */
  readonly expected: Readonly<Record<string, unknown>>;
  /** Repeats the request with the same Idempotency-Key. */
  readonly repeat: () => Promise<ApiResponse>;
}

/** Fields that can change without a request, or that only the response to the creation contains. */
const volatileFields = new Set(["secret", "updated_at", "status", "refunded_amount", "processor_order_status", "link_url"]);

/** Writes through the public API and records each 2xx response, to check it after a crash. */
export class Ledger {
  readonly #system: System;
  readonly #business: TestBusiness;
  readonly #report: Report;
  #uncheckedEntries: Entry[] = [];
  readonly #refundedIds: string[] = [];
  #succeededAtMs = 0;
  #clientId: string | undefined;

  constructor(system: System, business: TestBusiness, report: Report) {
    this.#system = system;
    this.#business = business;
    this.#report = report;
  }

  /** Creates random resources one after another until `stop` is aborted. */
  async write(random: Random, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        await random
          .pick([this.#createClient, this.#createEndpoint, this.#createAccount, this.#refundPayment, this.#createPayment])
          .call(this, random);
      } catch {
        // The connection broke, so the outcome of the request is unknown and cannot be checked.
        this.#report.count("calls without a response");
        await sleep(50);
      }
    }
  }

  /** Waits until `write` gets a new 2xx response. Records a violation after the timeout. */
  async waitForSuccess(timeoutMs: number): Promise<void> {
    const sinceMs = performance.now();
    while (this.#succeededAtMs < sinceMs) {
      if (performance.now() - sinceMs > timeoutMs) {
        return this.#report.violation(`no response with 2xx within ${timeoutMs / 1000} s after PostgreSQL was restarted`);
      }
      await sleep(20);
    }
  }

  /** Checks all 2xx responses since the last check and returns their number. */
  async checkNewEntries(): Promise<number> {
    const entries = this.#uncheckedEntries;
    this.#uncheckedEntries = [];
    for (const { path, expected, repeat } of entries) {
      const current = await this.#business.call("GET", path);
      const differingNames = Object.entries(expected).filter(
        ([name, value]) => JSON.stringify(current.body[name]) !== JSON.stringify(value),
      );
      this.#report.check(
        "a 2xx response survives a crash",
        current.status === 200 && differingNames.length === 0,
        () => `${path}: ${current.status}, different fields: ${differingNames.map(([name]) => name).join(", ")}: ${current.text}`,
      );
      const repeated = await repeat();
      this.#report.check(
        "a repeated Idempotency-Key returns the stored response",
        repeated.headers["idempotent-replayed"] === "true" && repeated.body["id"] === expected["id"],
        () => `${path}: ${repeated.status} ${repeated.text}`,
      );
    }
    return entries.length;
  }

  /** Checks that the business receives a webhook for each refund whose response had status 200. */
  async checkWebhooks(): Promise<void> {
    for (const id of this.#refundedIds) {
      const webhook = await this.#business.receiver.next("PAYMENT_REFUNDED", id, 120_000);
      this.#report.check("a refund is delivered by webhook", webhook !== undefined, () => `no PAYMENT_REFUNDED event of ${id}`);
    }
  }

  async #post(path: string, body: object | undefined, pathOf?: (response: ApiResponse) => string): Promise<ApiResponse> {
    const headers = { "idempotency-key": randomUUID() };
    const send = () => this.#business.call("POST", path, body, headers);
    const response = await send();
    this.#report.count(`responses with ${response.status}`);
    if (response.status >= 200 && response.status < 300) {
      this.#succeededAtMs = performance.now();
      const expected = Object.fromEntries(Object.entries(response.body).filter(([name]) => !volatileFields.has(name)));
      this.#uncheckedEntries.push({ path: pathOf?.(response) ?? `${path}/${response.body["id"]}`, expected, repeat: send });
    } else if (response.status !== 503 && response.status !== 504 && response.status !== 409) {
      this.#report.violation(`POST ${path} returned ${response.status}: ${response.text}`);
    }
    return response;
  }

  async #createClient(random: Random): Promise<void> {
    const created = await this.#post(
      "/api/v1/clients/person",
      {
        ...aPerson,
        address: `${random.integer(1, 500)} rue Didouche Mourad`,
        email: `${randomUUID()}@example.dz`,
      },
      ({ body }) => `/api/v1/clients/${body["id"]}`,
    );
    if (created.status === 201) this.#clientId = String(created.body["id"]);
  }

  async #createAccount(): Promise<void> {
    if (!this.#clientId) return;
    const body = { client_id: this.#clientId, account_type: "CURRENT", account_name: "Household", currency: "DZD" };
    await this.#post("/api/v1/accounts", body);
  }

  async #createEndpoint(random: Random): Promise<void> {
    // A business may have at most twenty endpoints.
    if (!random.chance(0.1)) return;
    await this.#post("/api/v1/webhook-endpoints", { url: `http://127.0.0.1:9/${randomUUID()}` });
  }

  async #createPayment(): Promise<void> {
    await this.#post("/api/v1/payments", anOrder);
  }

  async #refundPayment(): Promise<void> {
    const { id } = await aPaidPayment(this.#system, this.#business);
    const refunded = await this.#post(`/api/v1/payments/${id}/refund`, undefined, () => `/api/v1/payments/${id}`);
    if (refunded.status === 200) this.#refundedIds.push(id);
  }
}
