-- The audit trail is kept for five years, and goes with a partition of one. It stays append-only,
-- in each partition too: a change is refused, whoever asks for it. How partitions are kept:
-- packages/database/migrations/partitions-0001-initial.sql
alter table audit_event rename to audit_event_earlier;
alter index audit_event_pkey rename to audit_event_earlier_pkey;
alter index audit_event_of_business rename to audit_event_earlier_of_business;
alter index audit_event_newest rename to audit_event_earlier_newest;

create table audit_event (like audit_event_earlier including storage) partition by range (id);
alter table audit_event add primary key (id);
create index audit_event_of_business on audit_event (business_id, at desc, id desc);
create index audit_event_newest on audit_event (at desc, id desc);
alter table audit_event attach partition audit_event_earlier default;

create trigger audit_event_append_only before update or delete or truncate on audit_event
  for each statement execute function audit_event_refuse_change();
alter table audit_event enable always trigger audit_event_append_only;
-- The owner took this right from itself too, and needs it where a table becomes a partition.
grant trigger on audit_event_earlier to current_user;
create trigger audit_event_keep_row before update or delete on audit_event
  for each row execute function audit_event_refuse_change();
alter table audit_event enable always trigger audit_event_keep_row;

do $$
  declare name text;
  begin
    for name in select distinct grantee from information_schema.role_table_grants where table_name = 'audit_event' loop
      execute format('revoke update, delete, truncate, references, trigger on audit_event from %s',
        case name when 'PUBLIC' then 'public' else quote_ident(name) end);
    end loop;
    for name in select distinct grantee from information_schema.role_table_grants
      where table_name = 'audit_event_earlier' and grantee <> current_user
    loop
      execute format('revoke all on audit_event_earlier from %s', case name when 'PUBLIC' then 'public' else quote_ident(name) end);
    end loop;
  end
$$;

insert into partition_rule (table_name, key_column, days_each, gone_below, one_by_one)
  values ('audit_event', 'id', 365, $$uuid_at(now() - interval '5 years')$$, false);
