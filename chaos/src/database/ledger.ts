import { randomUUID } from "node:crypto";
import type { Answer } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { anOrder, aPaidPayment, aPerson, type TestBusiness } from "@amana/e2e/test-system";
import { sleep } from "@amana/runtime";
import type { Random } from "../random.ts";
import type { Report } from "../report.ts";

interface Entry {
  readonly path: string;
  /** What was answered, as far as nothing changes it later. */
  readonly answered: Readonly<Record<string, unknown>>;
  /** The request, to ask again with the same key. */
  readonly again: () => Promise<Answer>;
}

/** What grows or moves on by itself, or is shown once. */
const notKept = new Set(["secret", "updated_at", "status", "refunded_amount", "processor_order_status", "link_url"]);

/** Writes through the public API and remembers each 2xx, to look for it after a crash. */
export class Ledger {
  readonly #system: System;
  readonly #business: TestBusiness;
  readonly #report: Report;
  #fresh: Entry[] = [];
  readonly #refunded: string[] = [];
  #answeredAtMs = 0;
  #clientId: string | undefined;

  constructor(system: System, business: TestBusiness, report: Report) {
    this.#system = system;
    this.#business = business;
    this.#report = report;
  }

  /** Writes one thing after another until told to stop. */
  async write(random: Random, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      try {
        await random.pick([this.#client, this.#endpoint, this.#account, this.#refund, this.#payment]).call(this, random);
      } catch {
        // A connection that broke says nothing either way; neither does a helper that met an error
        // on its way.
        this.#report.count("calls that broke");
        await sleep(50);
      }
    }
  }

  /**
   * Waits until something was answered with 2xx after this call. Says so as a violation when
   * nothing is in time.
   */
  async untilAnswered(timeoutMs: number): Promise<void> {
    const sinceMs = performance.now();
    while (this.#answeredAtMs < sinceMs) {
      if (performance.now() - sinceMs > timeoutMs) {
        return this.#report.violation(`nothing was answered with 2xx within ${timeoutMs / 1000} s after PostgreSQL was back`);
      }
      await sleep(20);
    }
  }

  /** Reads everything answered since the last check. Answers how much that was. */
  async checkNewest(): Promise<number> {
    const entries = this.#fresh;
    this.#fresh = [];
    for (const { path, answered, again } of entries) {
      const read = await this.#business.call("GET", path);
      const differs = Object.entries(answered).filter(
        ([name, value]) => JSON.stringify(read.body[name]) !== JSON.stringify(value),
      );
      this.#report.check(
        "2xx that survived",
        read.status === 200 && differs.length === 0,
        () => `${path} is ${read.status}, and differs in ${differs.map(([name]) => name).join(", ")}: ${read.text}`,
      );
      const replayed = await again();
      this.#report.check(
        "2xx given again for the same key",
        replayed.headers["idempotent-replayed"] === "true" && replayed.body["id"] === answered["id"],
        () => `${path}: ${replayed.status} ${replayed.text}`,
      );
    }
    return entries.length;
  }

  /** Every refund that was answered with 200 is told. */
  async checkWebhooks(): Promise<void> {
    for (const id of this.#refunded) {
      const webhook = await this.#business.receiver.next("PAYMENT_REFUNDED", id, 120_000);
      this.#report.check("refunds told", webhook !== undefined, () => `no PAYMENT_REFUNDED about ${id}`);
    }
  }

  async #post(path: string, body: object | undefined, read?: (answer: Answer) => string): Promise<Answer> {
    const headers = { "idempotency-key": randomUUID() };
    const send = () => this.#business.call("POST", path, body, headers);
    const answer = await send();
    this.#report.count(`answers ${answer.status}`);
    if (answer.status >= 200 && answer.status < 300) {
      this.#answeredAtMs = performance.now();
      const answered = Object.fromEntries(Object.entries(answer.body).filter(([name]) => !notKept.has(name)));
      this.#fresh.push({ path: read?.(answer) ?? `${path}/${answer.body["id"]}`, answered, again: send });
    } else if (answer.status !== 503 && answer.status !== 504 && answer.status !== 409) {
      this.#report.violation(`POST ${path} answered ${answer.status}: ${answer.text}`);
    }
    return answer;
  }

  async #client(random: Random): Promise<void> {
    const made = await this.#post(
      "/api/v1/clients/person",
      {
        ...aPerson,
        address: `${random.integer(1, 500)} rue Didouche Mourad`,
        email: `${randomUUID()}@example.dz`,
      },
      ({ body }) => `/api/v1/clients/${body["id"]}`,
    );
    if (made.status === 201) this.#clientId = String(made.body["id"]);
  }

  async #account(): Promise<void> {
    if (!this.#clientId) return;
    const body = { client_id: this.#clientId, account_type: "CURRENT", account_name: "Household", currency: "DZD" };
    await this.#post("/api/v1/accounts", body);
  }

  async #endpoint(random: Random): Promise<void> {
    // Twenty are allowed to a business.
    if (!random.chance(0.1)) return;
    await this.#post("/api/v1/webhook-endpoints", { url: `http://127.0.0.1:9/${randomUUID()}` });
  }

  async #payment(): Promise<void> {
    await this.#post("/api/v1/payments", anOrder);
  }

  async #refund(): Promise<void> {
    const { id } = await aPaidPayment(this.#system, this.#business);
    const refunded = await this.#post(`/api/v1/payments/${id}/refund`, undefined, () => `/api/v1/payments/${id}`);
    if (refunded.status === 200) this.#refunded.push(id);
  }
}
