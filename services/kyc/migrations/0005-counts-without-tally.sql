-- Lists count at most 1 000 rows, so nothing reads kyc_application_tally any more. A replica of the
-- previous version counts the rows themselves while the table has a row of this business. It
-- deletes that row when it starts, which keep_tally_row prevents. A later release drops the table
-- and the function.
create function keep_tally_row() returns trigger language plpgsql as $$ begin return null; end $$;

drop trigger kyc_application_tally_insert on kyc_application;
drop trigger kyc_application_tally_update on kyc_application;
drop trigger kyc_application_tally_delete on kyc_application;
drop function kyc_application_tally_add();
insert into kyc_application_tally (business_id, difference, is_sum) values ('00000000-0000-0000-0000-000000000000', 0, true);
create trigger kyc_application_tally_keep before delete on kyc_application_tally for each row execute function keep_tally_row();
