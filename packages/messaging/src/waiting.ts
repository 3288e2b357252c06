import type { Waiting } from "@amana/database";

/** Events that nobody has published half a minute after their commit. */
export const outboxWaiting: readonly Waiting[] = [
  {
    what: "events that are not published",
    table: "outbox_waiting",
    where: "created_at < now() - interval '30 seconds'",
    since: "created_at",
    todo: "They are published by themselves once this service runs and reaches Kafka: its log says why they are not.",
  },
];

/** Messages that were set aside and that nobody gets done by himself. */
export const inboxWaiting: readonly Waiting[] = [
  {
    what: "events that fail again and again, or wait behind one that does",
    table: "dead_letter",
    where: "status in ('RETRYING', 'WAITING') and created_at < now() - interval '10 minutes'",
    since: "created_at",
    todo: "Mend what their reason names: amana dead-letters list. They are tried again by themselves.",
  },
  {
    what: "events that were given up (PARKED)",
    table: "dead_letter",
    where: "status = 'PARKED'",
    since: "created_at",
    todo: "amana dead-letters show ID; mend the cause; then amana dead-letters retry ID, or drop ID --reason.",
  },
  {
    what: "messages whose MAC is not good or whose event is too old (FORGED)",
    table: "dead_letter",
    where: "status = 'FORGED'",
    since: "created_at",
    todo: "If this service lacked the key: add it to EVENT_MAC_KEYS, restart, and retry them. Otherwise find out who writes to the topic, and drop them.",
  },
];
