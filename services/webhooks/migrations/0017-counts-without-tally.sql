-- Lists count at most 1 000 rows, so nothing reads event_tally any more. A replica of the previous
-- version counts the rows themselves while the table has a row of this business. It deletes that
-- row when it starts, which keep_tally_row prevents. A later release drops the table,
-- event_tally_from and the function.
create function keep_tally_row() returns trigger language plpgsql as $$ begin return null; end $$;

drop trigger event_tally_insert on event;
drop trigger event_tally_update on event;
drop trigger event_tally_delete on event;
drop function event_tally_add();
insert into event_tally (business_id, difference, is_sum) values ('00000000-0000-0000-0000-000000000000', 0, true);
create trigger event_tally_keep before delete on event_tally for each row execute function keep_tally_row();

-- Partitions no longer wait for event_tally_from.
update partition_rule set gone_below = $$(select least(
  uuid_at(now() - interval '30 days'),
  (select event_id from (select event_id from delivery where status = 'PENDING' offset 0) pending order by 1 limit 1)
))$$ where table_name = 'event';
