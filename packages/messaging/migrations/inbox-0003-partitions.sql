-- What was seen is forgotten with a partition of ten days, by the time in the events' ids: ten days
-- after any transport has forgotten it, because a message may have waited before it was sent. How
-- partitions are kept: packages/database/migrations/partitions-0001-initial.sql
alter table inbox rename to inbox_earlier;
alter index inbox_pkey rename to inbox_earlier_pkey;
create table inbox (like inbox_earlier including defaults including storage) partition by range (event_id);
alter table inbox add primary key (consumer, event_id);
alter table inbox attach partition inbox_earlier default;
insert into partition_rule (table_name, key_column, days_each, gone_below)
  values ('inbox', 'event_id', 10, $$uuid_at(now() - interval '40 days')$$);

-- A former version deletes by ctid, which names a row in each partition. It may not do so any more,
-- and goes on without.
do $$
  declare name text;
  begin
    for name in select distinct grantee from information_schema.role_table_grants where table_name = 'inbox' and grantee <> current_user loop
      execute format('revoke delete on inbox from %s', case name when 'PUBLIC' then 'public' else quote_ident(name) end);
    end loop;
  end
$$;
