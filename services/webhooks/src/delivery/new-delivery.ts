import type { EncryptedSecrets } from "../webhook-endpoint/secrets.ts";

/** The columns of the endpoint that an attempt needs. */
export interface DeliveryEndpoint extends EncryptedSecrets {
  readonly url: string;
  readonly slow: boolean;
}

/** An inserted delivery. Without a lease it is due, and any replica claims it. */
export interface NewDelivery extends DeliveryEndpoint {
  readonly id: string;
  readonly lease_token: string | null;
  readonly attempts: number;
  /** True before the first attempt. False if a redelivery was requested. */
  readonly is_first: boolean;
  readonly event_id: string;
  readonly type: string;
  readonly body: string;
  readonly business_id: string;
  /** Trace context of the event. */
  readonly traceparent: string | null;
}
