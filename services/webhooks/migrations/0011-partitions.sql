-- Events and attempts are kept for 30 days, and go with a partition of ten. How partitions are
-- kept: packages/database/migrations/partitions-0001-initial.sql Deliveries stay one table: what is
-- due is looked for among all of them, and an attempt ends by changing its row.

-- Events with a lower id are no longer in event_tally, because no list shows them: 30 days ago, as
-- of the last hour. One row.
create table event_tally_from (id uuid not null);
insert into event_tally_from values (uuid_at('1970-01-01'));

create or replace function event_tally_add() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then
      insert into event_tally (business_id, type, difference)
        select business_id, type, count(*) from added where id >= (select id from event_tally_from) group by business_id, type;
    elsif tg_op = 'DELETE' then
      insert into event_tally (business_id, type, difference)
        select business_id, type, -count(*) from removed where id >= (select id from event_tally_from) group by business_id, type;
    else
      insert into event_tally (business_id, type, difference) select business_id, type, sum(n) from (
        select id, business_id, type, 1 as n from added union all select id, business_id, type, -1 from removed
      ) changed where id >= (select id from event_tally_from) group by business_id, type having sum(n) <> 0;
    end if;
    return null;
  end
$$;

alter table event rename to event_earlier;
alter index event_pkey rename to event_earlier_pkey;
alter index event_business_created rename to event_earlier_business_created;
alter index event_business_type_created rename to event_earlier_business_type_created;
drop trigger event_tally_insert on event_earlier;
drop trigger event_tally_update on event_earlier;
drop trigger event_tally_delete on event_earlier;

create table event (like event_earlier including storage) partition by range (id);
alter table event add primary key (id);
create index event_business_created on event (business_id, created_at desc, id desc);
create index event_business_type_created on event (business_id, type, created_at desc, id desc);
alter table event attach partition event_earlier default;

create trigger event_tally_insert after insert on event referencing new table as added
  for each statement execute function event_tally_add();
create trigger event_tally_update after update on event referencing new table as added old table as removed
  for each statement execute function event_tally_add();
create trigger event_tally_delete after delete on event referencing old table as removed
  for each statement execute function event_tally_add();

-- An attempt's partition is that of its delivery's id. Its own ids count on, because they say which
-- attempt was the last.
do $$
  declare next_id bigint;
  begin
    lock delivery_attempt;
    next_id := nextval('delivery_attempt_id_seq');
    alter table delivery_attempt alter column id drop identity;
    alter table delivery_attempt rename to delivery_attempt_earlier;
    alter index delivery_attempt_pkey rename to delivery_attempt_earlier_pkey;
    create table delivery_attempt (like delivery_attempt_earlier including storage) partition by range (delivery_id);
    execute format('alter table delivery_attempt alter column id add generated always as identity (start %s)', next_id);
    alter table delivery_attempt add primary key (delivery_id, id);
    alter table delivery_attempt attach partition delivery_attempt_earlier default;
  end
$$;

insert into partition_rule (table_name, key_column, days_each, gone_below) values
  ('delivery_attempt', 'delivery_id', 10, $$uuid_at(now() - interval '30 days')$$),
  -- Not before its deliveries have ended, a replay that began further back has, and event_tally
  -- knows.
  ('event', 'id', 10, $$(select least(
    uuid_at(now() - interval '30 days'),
    (select id from event_tally_from),
    (select event_id from delivery where status = 'PENDING' order by 1 limit 1),
    (select uuid_at(min(since)) from webhook_replay where next_step_at is not null)
  ))$$);
