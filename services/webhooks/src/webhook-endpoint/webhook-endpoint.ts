import { createHash } from "node:crypto";
import type { EnumName } from "@amana/contracts/enum-names";
import type * as proto from "@amana/contracts/webhooks/v1/webhook_endpoint_pb";
import { defineEntity, p } from "@mikro-orm/postgresql";

export type WebhookEndpointStatus = EnumName<typeof proto.WebhookEndpointStatus>;

const schema = defineEntity({
  name: "WebhookEndpoint",
  tableName: "webhook_endpoint",
  properties: {
    id: p.uuid().primary(),
    businessId: p.uuid(),
    url: p.text(),
    status: p.text().$type<WebhookEndpointStatus>(),
    /** Event types it asks for; empty means all but the opt-in ones. */
    events: p.array(),
    secretCiphertext: p.text(),
    /** Until then X-Signature goes on with the previous secret. */
    secretActiveFrom: p.datetime(3).nullable(),
    /** The secret before the last rotation, which `webhook-signature` carries along until then. */
    previousSecretCiphertext: p.text().nullable(),
    previousSecretUntil: p.datetime(3).nullable(),
    /** When the first of an unbroken row of failed attempts was; the delivery engine keeps it. */
    failingSince: p.datetime(3).nullable(),
    /** Why the newest attempt that failed did so; the delivery engine keeps it. */
    lastError: p.text().nullable(),
    /** Whether the last attempts took long; the delivery engine keeps it. */
    slow: p.boolean().default(false),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

const previousSecretKeptMs = 24 * 60 * 60 * 1000;

/** Where a business receives its events. */
export class WebhookEndpoint extends schema.class {
  moveTo(url: string, now: Date): void {
    this.url = url;
    this.failingSince = null;
    this.slow = false;
    this.updatedAt = now;
  }

  /**
   * The old secret stays good for `webhook-signature` for a day; one from before a still earlier
   * rotation does not. `X-Signature` goes on with it for `activateInSeconds`. A secret that has not
   * become active by now never does.
   */
  rotateSecret(ciphertext: string, now: Date, activateInSeconds: number): void {
    const isActive = !this.secretActiveFrom || this.secretActiveFrom <= now;
    if (isActive) this.previousSecretCiphertext = this.secretCiphertext;
    this.previousSecretUntil = new Date(now.getTime() + previousSecretKeptMs);
    this.secretCiphertext = ciphertext;
    this.secretActiveFrom = activateInSeconds > 0 ? new Date(now.getTime() + activateInSeconds * 1000) : null;
    this.updatedAt = now;
  }

  /** An endpoint that is switched on again starts without its history of failures. */
  switchTo(status: WebhookEndpointStatus, now: Date): void {
    this.status = status;
    this.failingSince = null;
    this.updatedAt = now;
  }

  askFor(events: string[], now: Date): void {
    if (events.length === this.events.length && events.every((type) => this.events.includes(type))) return;
    this.events = events;
    this.updatedAt = now;
  }

  /**
   * Returns the state for the audit trail. Only the origin of the URL is readable, because a URL
   * may contain a token.
   */
  snapshot() {
    return {
      origin: new URL(this.url).origin,
      url_sha256: createHash("sha256").update(this.url).digest("hex"),
      status: this.status,
      events: this.events.join(),
    };
  }
}
schema.setClass(WebhookEndpoint);
