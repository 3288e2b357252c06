-- How many events of a business are of which type, for lists that say how many there are without counting: Tally in packages/database.
-- The rows that are there already are counted by the running service, which holds up nobody.
create table event_tally as select business_id, type, 0::bigint as difference from event with no data;
alter table event_tally add column is_sum boolean not null default false;
insert into event_tally (business_id, difference, is_sum) values ('00000000-0000-0000-0000-000000000000', 0, true);
create index event_tally_business on event_tally (business_id, type) include (difference);
create index event_tally_differences on event_tally (business_id) where not is_sum;
create function event_tally_add() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then
      insert into event_tally (business_id, type, difference) select business_id, type, count(*) from added group by business_id, type;
    elsif tg_op = 'DELETE' then
      insert into event_tally (business_id, type, difference) select business_id, type, -count(*) from removed group by business_id, type;
    else
      insert into event_tally (business_id, type, difference) select business_id, type, sum(n) from (
        select business_id, type, 1 as n from added union all select business_id, type, -1 from removed
      ) changed group by business_id, type having sum(n) <> 0;
    end if;
    return null;
  end
$$;

create trigger event_tally_insert after insert on event referencing new table as added
  for each statement execute function event_tally_add();

create trigger event_tally_update after update on event referencing new table as added old table as removed
  for each statement execute function event_tally_add();

create trigger event_tally_delete after delete on event referencing old table as removed
  for each statement execute function event_tally_add();
