import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge, histogram } from "@amana/runtime";
import type { Subscription } from "./message.ts";

const topic = "the event topics";

const outboxWaiting = gauge({
  name: "amana_outbox_waiting",
  help: "Committed events after the stored cursor of the relay, which is at most one second old; at most about 10000",
  labels: { topic },
});

const outboxOldest = gauge({
  name: "amana_outbox_oldest_seconds",
  help: "Age of the oldest committed event that is not published; 0 if there is none",
  labels: { topic },
});

export const relayActive = gauge({
  name: "amana_outbox_relay_active",
  help: "1 if this replica publishes the events, otherwise 0",
});

export const publishDuration = histogram({
  name: "amana_outbox_publish_duration_seconds",
  help: "Time until a batch of outbox rows was published or failed",
  labels: { topic, outcome: ["done", "failed"] },
});

export const publishedEvents = counter({
  name: "amana_outbox_published_total",
  help: "Published events",
  labels: { topic },
});

export const consumedOutcomes = ["applied", "passed_over", "failed", "forged"] as const;

export const consumedEvents = counter({
  name: "amana_events_consumed_total",
  help: "Events that a consumer received: applied, passed_over (already applied), failed (dead-lettered), forged (MAC invalid, or event more than 39 days old)",
  labels: { topic, outcome: consumedOutcomes },
});

export const consumerStopped = gauge({
  name: "amana_consumer_stopped",
  help: "1 from the start of a pause until an event succeeds; otherwise 0. A pause starts when different events failed in a row",
  labels: { topic },
});

export const consumerJoined = gauge({
  name: "amana_consumer_joined",
  help: "1 while the consumer is a member of its Kafka group, otherwise 0; absent with EVENTS=direct",
  labels: { topic },
});

export const consumerLag = gauge({
  name: "amana_consumer_lag_events",
  help: "Events that had arrived in the partitions of this replica at its last fetch and are not processed yet; absent with EVENTS=direct",
  labels: { topic },
});

const deadLetters = gauge({
  name: "amana_dead_letters",
  help: "Dead-lettered messages by status; at most 10000 for each status. The consumer retries messages with the status retrying or waiting. An operator must retry or drop messages with the status parked",
  labels: { topic, status: ["retrying", "waiting", "parked"] },
});

const deadLettersOldest = gauge({
  name: "amana_dead_letters_oldest_seconds",
  help: "Age of the oldest dead-lettered message in this status; 0 if no message has this status",
  labels: { topic, status: ["retrying", "waiting", "parked"] },
});

/**
 * Exports the unpublished events as metrics, until disposed. The query reads only rows after each
 * topic's cursor. The relay also advances the cursors of topics without events, so the query reads
 * few rows.
 */
export const showOutbox = (orm: Orm, topics: readonly string[]): Disposable =>
  showRows(orm, {
    text: `select t.topic, count(o.topic) as waiting, coalesce(extract(epoch from now() - min(o.created_at)), 0) as oldest
      from unnest($1::text[]) as t (topic) left join outbox_position p on p.topic = t.topic
      left join lateral (
        select topic, created_at from outbox where topic = t.topic and id > coalesce(p.id, 0) order by id limit ${rowsCountedMax}
      ) o on true group by t.topic`,
    values: [topics],
    gauges: { waiting: outboxWaiting, oldest: outboxOldest },
  });

/** Exports a consumer's dead-lettered messages as metrics, until disposed. */
export const showDeadLetters = (orm: Orm, { topic, consumer }: Subscription): Disposable =>
  showRows(orm, {
    // Selects each status separately, so that PostgreSQL uses the partial index of that status.
    text: ["RETRYING", "WAITING", "PARKED"]
      .map(
        (status) => `select $2::text as topic, '${status.toLowerCase()}' as status, count(*) as dead_letters,
          coalesce(extract(epoch from now() - min(created_at)), 0) as oldest
        from (select created_at from dead_letter where consumer = $1 and topic = $2 and status = '${status}' limit ${rowsCountedMax}) d`,
      )
      .join(" union all "),
    values: [consumer, topic],
    gauges: { dead_letters: deadLetters, oldest: deadLettersOldest },
  });
