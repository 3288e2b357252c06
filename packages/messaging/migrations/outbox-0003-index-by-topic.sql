-- Each reader of the outbox reads one topic in the order of ids. Without this index, cleaning, `amana stuck` and
-- `amana outbox republish` read all rows, and a relay whose topic fails reads the rows of the other topics.
-- In a database with millions of outbox rows, create this index before the migration, with `create index concurrently`.
create index if not exists outbox_topic on outbox (topic, id);

-- Returns the same rows as before. The recursive part finds the topics with one index access each.
create or replace view outbox_waiting as
  with recursive topics (topic) as (
    select min(topic) from outbox
    union all
    select (select min(o.topic) from outbox o where o.topic > t.topic) from topics t where t.topic is not null
  )
  select o.* from topics t left join outbox_position p on p.topic = t.topic
  cross join lateral (
    select * from outbox where topic = t.topic and id > coalesce(p.id, 0)
    union all
    select * from outbox
    where topic = t.topic and id <= p.id and xid >= pg_snapshot_xmin(p.snapshot) and not pg_visible_in_snapshot(xid, p.snapshot)
  ) o
  where t.topic is not null;
