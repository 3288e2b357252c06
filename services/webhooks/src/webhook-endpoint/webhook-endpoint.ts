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
    /** Subscribed event types; empty means all except the opt-in types. */
    events: p.array(),
    secretCiphertext: p.text(),
    /** Before this time, X-Signature uses the previous secret. */
    secretActiveFrom: p.datetime(3).nullable(),
    /** The secret before the last rotation, also valid until `previousSecretUntil`. */
    previousSecretCiphertext: p.text().nullable(),
    previousSecretUntil: p.datetime(3).nullable(),
    /** Time of the first failed attempt since the last success. Set by the recorder of attempts. */
    failingSince: p.datetime(3).nullable(),
    /** Error of the last failed attempt. Set by the recorder of attempts. */
    lastError: p.text().nullable(),
    /**
     * True if the last attempt was slow: the circuit breaker is open. Set by the recorder of
     * attempts.
     */
    slow: p.boolean().default(false),
    createdAt: p.datetime(3),
    /**
     * Time of the last change of URL, status, event types or secret. Changes of the health must not
     * set it, because a response with status 410 disables the endpoint only if this time has not
     * changed since the delivery was leased.
     */
    updatedAt: p.datetime(3),
    version: p.integer().version(),
  },
});

const previousSecretKeptMs = 24 * 60 * 60 * 1000;

/** A URL at which a business receives its events. */
export class WebhookEndpoint extends schema.class {
  changeUrl(url: string, now: Date): void {
    this.url = url;
    this.failingSince = null;
    this.slow = false;
    this.updatedAt = now;
  }

  /**
   * Sets a new secret. It becomes active for `X-Signature` after `activateInSeconds`. The secret
   * that was active until then stays valid in `webhook-signature` until a day after the rotation.
   * Older secrets become invalid. If the secret of an earlier rotation is not active yet, it also
   * becomes invalid.
   */
  rotateSecret(ciphertext: string, now: Date, activateInSeconds: number): void {
    const isActive = !this.secretActiveFrom || this.secretActiveFrom <= now;
    if (isActive) this.previousSecretCiphertext = this.secretCiphertext;
    this.previousSecretUntil = new Date(now.getTime() + previousSecretKeptMs);
    this.secretCiphertext = ciphertext;
    this.secretActiveFrom = activateInSeconds > 0 ? new Date(now.getTime() + activateInSeconds * 1000) : null;
    this.updatedAt = now;
  }

  /** Changes the status and clears `failingSince`, so that earlier failures no longer count. */
  changeStatus(status: WebhookEndpointStatus, now: Date): void {
    this.status = status;
    this.failingSince = null;
    this.updatedAt = now;
  }

  changeEvents(events: string[], now: Date): void {
    if (events.length === this.events.length && events.every((type) => this.events.includes(type))) return;
    this.events = events;
    this.updatedAt = now;
  }

  /**
   * Returns the state for the audit trail. It contains the URL only as its origin and a hash,
   * because a URL may contain a token.
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
