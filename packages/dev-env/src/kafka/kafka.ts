import type { Progress } from "../progress.ts";

export interface KafkaOptions {
  /** Holds the topics' data between runs. */
  dir: string;
  progress: Progress;
  /** Cancels a start that is in progress; the start then throws. */
  signal?: AbortSignal | undefined;
}

/** A broker of our own, on 127.0.0.1, that accepts clients. */
export interface Kafka {
  /** For KAFKA_BROKERS: "127.0.0.1:port". */
  readonly brokers: string;
  readonly version: string;
  /** Stops cleanly and keeps the data. Safe to call again. */
  stop(): Promise<void>;
  /** Ends it at once, as an outage does. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and with its data, after `stop` or `kill`. */
  start(): Promise<void>;
}
