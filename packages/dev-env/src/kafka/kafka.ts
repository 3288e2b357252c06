import type { Progress } from "../progress.ts";

export interface KafkaOptions {
  /** Folder of the data, kept between runs. */
  dir: string;
  progress: Progress;
  /** Cancels a start that is in progress; the start then throws. */
  signal?: AbortSignal;
}

/** A broker on 127.0.0.1 that this package started. */
export interface Kafka {
  /** Value for KAFKA_BROKERS: "127.0.0.1:port". */
  readonly brokers: string;
  readonly version: string;
  /** Stops the broker cleanly and keeps the data. Idempotent. */
  stop(): Promise<void>;
  /** Ends the broker immediately, as in an outage. */
  kill(): Promise<void>;
  /** Starts the broker again on the same port with its data, after `stop` or `kill`. */
  start(): Promise<void>;
}
