/** A message as it travels: CloudEvents 1.0 as headers (Kafka binding, binary mode). */
export interface Message {
  /** Messages of one key stay in order. */
  readonly key: string;
  readonly payload: Uint8Array;
  /** ce_id, ce_type, ce_source, ce_time and traceparent; on the way also amana-mac. */
  readonly headers: Readonly<Record<string, string>>;
}
