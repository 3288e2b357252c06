-- What a service announces, committed with the change; the trigger wakes the relay at commit.
-- Databases that are older than this file have it from their service's own 0001-initial: there it does nothing.
create table if not exists outbox (
  id bigint generated always as identity primary key,
  topic text not null,
  key text not null,
  payload bytea not null,
  headers jsonb not null,
  created_at timestamptz not null default now()
);
create or replace function outbox_notify() returns trigger language plpgsql as $$
    begin
      perform pg_notify('outbox', '');
      return null;
    end
  $$;
create or replace trigger outbox_notify after insert on outbox for each statement execute function outbox_notify();
