-- Lists count at most 1 000 rows, so nothing reads payment_tally any more. A replica of the
-- previous version counts the rows themselves while the table has a row of this business. It
-- deletes that row when it starts, which keep_tally_row prevents. A later release drops the table
-- and the function.
create function keep_tally_row() returns trigger language plpgsql as $$ begin return null; end $$;

drop trigger payment_tally_insert on payment;
drop trigger payment_tally_update on payment;
drop trigger payment_tally_delete on payment;
drop function payment_tally_add();
insert into payment_tally (business_id, difference, is_sum) values ('00000000-0000-0000-0000-000000000000', 0, true);
create trigger payment_tally_keep before delete on payment_tally for each row execute function keep_tally_row();
