-- Lists count at most 1 000 rows, so nothing reads client_tally, beneficiary_tally and
-- account_tally any more. A replica of the previous version counts the rows themselves while such a
-- table has a row of this business. It deletes that row when it starts, which keep_tally_row
-- prevents. A later release drops the tables and the function.
create function keep_tally_row() returns trigger language plpgsql as $$ begin return null; end $$;

drop trigger client_tally_insert on client;
drop trigger client_tally_update on client;
drop trigger client_tally_delete on client;
drop function client_tally_add();
insert into client_tally (business_id, difference, is_sum) values ('00000000-0000-0000-0000-000000000000', 0, true);
create trigger client_tally_keep before delete on client_tally for each row execute function keep_tally_row();

drop trigger beneficiary_tally_insert on beneficiary;
drop trigger beneficiary_tally_update on beneficiary;
drop trigger beneficiary_tally_delete on beneficiary;
drop function beneficiary_tally_add();
insert into beneficiary_tally (business_id, difference, is_sum) values ('00000000-0000-0000-0000-000000000000', 0, true);
create trigger beneficiary_tally_keep before delete on beneficiary_tally for each row execute function keep_tally_row();

drop trigger account_tally_insert on account;
drop trigger account_tally_update on account;
drop trigger account_tally_delete on account;
drop function account_tally_add();
insert into account_tally (business_id, difference, is_sum) values ('00000000-0000-0000-0000-000000000000', 0, true);
create trigger account_tally_keep before delete on account_tally for each row execute function keep_tally_row();
