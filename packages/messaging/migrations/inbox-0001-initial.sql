-- Which events a consumer has seen, and those that it has set aside.
-- Databases that are older than this file have it from their service's own 0001-initial: there it does nothing.
create table if not exists inbox (
  consumer text not null,
  event_id uuid not null,
  received_at timestamptz not null default now(),
  primary key (consumer, event_id)
);
create index if not exists inbox_received_at on inbox (received_at);

create table if not exists dead_letter (
  id uuid primary key default uuidv7(),
  position bigint generated always as identity,
  consumer text not null,
  topic text not null,
  key text not null,
  event_id uuid,
  event_type text not null,
  payload bytea not null,
  headers jsonb not null,
  status text not null check (status in ('RETRYING', 'WAITING', 'PARKED', 'FORGED', 'DELIVERED', 'DROPPED')),
  reason text not null,
  failure text not null default '',
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) check ((status in ('RETRYING', 'WAITING')) = (next_attempt_at is not null)),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index if not exists dead_letter_event on dead_letter (consumer, event_id) where status in ('RETRYING', 'WAITING', 'PARKED');
create index if not exists dead_letter_open on dead_letter (consumer, topic, key, position) where status in ('RETRYING', 'WAITING');
create index if not exists dead_letter_forged on dead_letter (consumer, topic) where status = 'FORGED';
create index if not exists dead_letter_created on dead_letter (created_at desc, id desc);
