import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge, histogram } from "@amana/runtime";
import type { Subscription } from "./message.ts";

const topic = "the topics";

const outboxWaiting = gauge({
  name: "amana_outbox_waiting",
  help: "Events that are committed and not published, as far as the relay has written down (a second behind); about 10000 at most",
  labels: { topic },
});

const outboxOldest = gauge({
  name: "amana_outbox_oldest_seconds",
  help: "For how long the first of these events has waited; 0 for none",
  labels: { topic },
});

export const relaysActive = gauge({
  name: "amana_outbox_relay_active",
  help: "1 in the one replica that publishes, 0 in the others",
});

export const published = histogram({
  name: "amana_outbox_publish_duration_seconds",
  help: "How long it took until a part of the outbox was published, or until that failed",
  labels: { topic, outcome: ["done", "failed"] },
});

export const publishedEvents = counter({
  name: "amana_outbox_published_total",
  help: "Events that were published",
  labels: { topic },
});

export const consumedOutcomes = ["applied", "passed_over", "failed", "forged"] as const;

export const consumedEvents = counter({
  name: "amana_events_consumed_total",
  help: "Events that a consumer took: applied, passed_over (seen before), failed (became a dead letter), forged (MAC not good, or event more than 39 days old)",
  labels: { topic, outcome: consumedOutcomes },
});

export const consumersStopped = gauge({
  name: "amana_consumer_stopped",
  help: "1 while the consumer pauses, because different events failed in a row, else 0",
  labels: { topic },
});

export const consumersJoined = gauge({
  name: "amana_consumer_joined",
  help: "1 while the consumer belongs to its group at Kafka, else 0; absent with direct events",
  labels: { topic },
});

export const consumerLag = gauge({
  name: "amana_consumer_lag_events",
  help: "Events that Kafka had and this replica had not handled, in the partitions it has, when it last took some; absent with direct events",
  labels: { topic },
});

const deadLetters = gauge({
  name: "amana_dead_letters",
  help: "Dead letters: retrying and waiting are retried by themselves, parked need an operator; 10000 of each at most",
  labels: { topic, status: ["retrying", "waiting", "parked"] },
});

const deadLettersOldest = gauge({
  name: "amana_dead_letters_oldest_seconds",
  help: "Age of the oldest of these dead letters; 0 for none",
  labels: { topic, status: ["retrying", "waiting", "parked"] },
});

/**
 * Shows what waits in the outbox, until disposed. It looks at the rows behind each topic's position
 * only; the relay writes that down often enough even when a topic has none.
 */
export const showOutbox = (orm: Orm, topics: readonly string[]): Disposable =>
  showRows(orm, {
    name: "outbox_gauges",
    text: `select t.topic, count(o.topic) as waiting, coalesce(extract(epoch from now() - min(o.created_at)), 0) as oldest
      from unnest($1::text[]) as t (topic) left join outbox_position p on p.topic = t.topic
      left join lateral (
        select topic, created_at from outbox where id > coalesce(p.id, 0) order by id limit ${rowsCountedMax}
      ) o on o.topic = t.topic group by t.topic`,
    values: [topics],
    gauges: { waiting: outboxWaiting, oldest: outboxOldest },
  });

/** Shows a consumer's dead letters, until disposed. */
export const showDeadLetters = (orm: Orm, { topic, consumer }: Subscription): Disposable =>
  showRows(orm, {
    name: "dead_letter_gauges",
    // A branch each: what is asked for by one status is found by the index of just these rows.
    text: ["RETRYING", "WAITING", "PARKED"]
      .map(
        (status) => `select $2::text as topic, '${status.toLowerCase()}' as status, count(*) as letters,
          coalesce(extract(epoch from now() - min(created_at)), 0) as oldest
        from (select created_at from dead_letter where consumer = $1 and topic = $2 and status = '${status}' limit ${rowsCountedMax}) d`,
      )
      .join(" union all "),
    values: [consumer, topic],
    gauges: { letters: deadLetters, oldest: deadLettersOldest },
  });
