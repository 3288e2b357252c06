-- Uses of Idempotency-Keys and what they were answered.
-- Databases that are older than this file have it from their service's own 0001-initial: there it does nothing.
create table if not exists idempotency_key (
  id uuid primary key,
  scope text not null,
  route text not null,
  key text not null,
  fingerprint text not null,
  answer bytea,
  refusal bytea,
  created_at timestamptz(3) not null,
  unique (scope, route, key)
);
create index if not exists idempotency_key_created_at on idempotency_key (created_at);
