-- Published rows stay for some days instead of being deleted one by one, and commits notify nobody: PostgreSQL lets
-- transactions that notify commit only one after the other. The relay remembers how far it has come.
drop trigger if exists outbox_notify on outbox;
drop function if exists outbox_notify();

-- Which transaction wrote a row: one that was under way when the relay looked may commit a row with an id that is
-- lower than what the relay has published by then. Rows from before are all committed and need none.
alter table outbox add column xid xid8;
alter table outbox alter column xid set default pg_current_xact_id();
create index outbox_xid on outbox (xid);

-- A transaction has its own id before it takes one for a row, so that a snapshot without the first has no row with
-- the second below what it shows.
create function outbox_begin() returns trigger language plpgsql as $$
  begin
    perform pg_current_xact_id();
    return null;
  end
$$;
create trigger outbox_begin before insert on outbox for each statement execute function outbox_begin();

-- Everything up to id is published, except for what was not committed yet in the snapshot.
create table outbox_position (
  topic text primary key,
  id bigint not null,
  snapshot pg_snapshot not null,
  updated_at timestamptz(3) not null default now()
);

-- What the relay has not published, as far as it has written down: at most a second behind.
create view outbox_waiting as
  select o.* from outbox o left join outbox_position p on p.topic = o.topic
  where p.id is null or o.id > p.id or not coalesce(pg_visible_in_snapshot(o.xid, p.snapshot), true);
