-- How many payments of a business have which status, for lists that say how many there are without counting: Tally in packages/database.
-- The rows that are there already are counted by the running service, which holds up nobody.
create table payment_tally as select business_id, status, 0::bigint as difference from payment with no data;
alter table payment_tally add column is_sum boolean not null default false;
insert into payment_tally (business_id, difference, is_sum) values ('00000000-0000-0000-0000-000000000000', 0, true);
create index payment_tally_business on payment_tally (business_id, status) include (difference);
create index payment_tally_differences on payment_tally (business_id) where not is_sum;
create function payment_tally_add() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then
      insert into payment_tally (business_id, status, difference) select business_id, status, count(*) from added group by business_id, status;
    elsif tg_op = 'DELETE' then
      insert into payment_tally (business_id, status, difference) select business_id, status, -count(*) from removed group by business_id, status;
    else
      insert into payment_tally (business_id, status, difference) select business_id, status, sum(n) from (
        select business_id, status, 1 as n from added union all select business_id, status, -1 from removed
      ) changed group by business_id, status having sum(n) <> 0;
    end if;
    return null;
  end
$$;

create trigger payment_tally_insert after insert on payment referencing new table as added
  for each statement execute function payment_tally_add();

create trigger payment_tally_update after update on payment referencing new table as added old table as removed
  for each statement execute function payment_tally_add();

create trigger payment_tally_delete after delete on payment referencing old table as removed
  for each statement execute function payment_tally_add();
