import type { EncryptedSecrets } from "../webhook-endpoint/secrets.ts";

/** The columns of an endpoint that a delivery attempt needs. */
export interface DeliveryEndpoint extends EncryptedSecrets {
  readonly url: string;
  readonly slow: boolean;
  /**
   * The endpoint's `updated_at` as text, in full precision. A different value in the table shows
   * that the endpoint has been changed, enabled or disabled since the delivery was leased.
   */
  readonly endpoint_updated_at: string;
}

/**
 * A delivery with the data that an attempt needs. If `lease_token` is null, the delivery is due and
 * any replica can claim it.
 */
export interface NewDelivery extends DeliveryEndpoint {
  readonly id: string;
  readonly lease_token: string | null;
  readonly attempts: number;
  /** True if no attempt was made and no redelivery was requested. */
  readonly is_first: boolean;
  readonly event_id: string;
  readonly type: string;
  readonly body: string;
  readonly business_id: string;
  readonly traceparent: string | null;
}
