-- The chain over the audit trail: a link for each row, and signed heads. docs/audit.md
-- Rows are queued by the database itself, so that those of a replica of the version before are
-- sealed too, and nobody ever has to look for them among the rows of years.
create table audit_unsealed (
  event_id uuid primary key,
  since timestamptz not null default now()
);
create function audit_event_queue() returns trigger language plpgsql as $$
  begin
    insert into audit_unsealed (event_id) values (new.id);
    return null;
  end
$$;

-- How far the rows that were there before have been looked through; gone when all have.
create table audit_sweep (after_id uuid not null);
insert into audit_sweep values ('00000000-0000-0000-0000-000000000000');

create table audit_link (
  id uuid not null default uuidv7(),
  day date not null,
  -- Among the day's, from 1 on, without a gap.
  number bigint not null,
  event_id uuid not null,
  business_id uuid,
  -- Among the business's, and the leaf of the one before.
  business_number bigint,
  business_previous bytea,
  leaf bytea not null check (octet_length(leaf) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  primary key (id)
) partition by range (id);
create index audit_link_of_day on audit_link (day, number);
create index audit_link_of_event on audit_link (event_id);
create index audit_link_of_business on audit_link (business_id, business_number desc) where business_id is not null;
create table audit_link_earlier partition of audit_link default;

-- Few and small: they stay when what they vouch for has gone.
create table audit_head (
  day date not null,
  links bigint not null,
  -- The day is over, and has that many.
  final boolean not null,
  hash bytea not null,
  -- Of the final head of the day before.
  previous bytea not null,
  made_at timestamptz(3) not null,
  public_key text not null,
  signature text not null,
  primary key (day, links, final)
);

create function audit_refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op);
  end
$$;

-- The owner took this right from itself (0001).
grant trigger on audit_event to current_user;
create trigger audit_event_queue after insert on audit_event for each row execute function audit_event_queue();
alter table audit_event enable always trigger audit_event_queue;

do $$
  declare
    protected text;
    name text;
  begin
    foreach protected in array array['audit_link', 'audit_head'] loop
      execute format('create trigger append_only before update or delete or truncate on %I for each statement execute function audit_refuse_change()', protected);
      execute format('alter table %I enable always trigger append_only', protected);
      execute format('create trigger keep_row before update or delete on %I for each row execute function audit_refuse_change()', protected);
      execute format('alter table %I enable always trigger keep_row', protected);
    end loop;
    create trigger append_only before truncate on audit_link_earlier for each statement execute function audit_refuse_change();
    alter table audit_link_earlier enable always trigger append_only;
    foreach protected in array array['audit_event', 'audit_link', 'audit_head'] loop
      for name in select distinct grantee from information_schema.role_table_grants where table_name = protected loop
        execute format('revoke update, delete, truncate, references, trigger on %I from %s', protected,
          case name when 'PUBLIC' then 'public' else quote_ident(name) end);
      end loop;
    end loop;
    for name in select distinct grantee from information_schema.role_table_grants
      where table_name = 'audit_link_earlier' and grantee <> current_user
    loop
      execute format('revoke all on audit_link_earlier from %s', case name when 'PUBLIC' then 'public' else quote_ident(name) end);
    end loop;
  end
$$;

insert into partition_rule (table_name, key_column, days_each, gone_below, one_by_one)
  values ('audit_link', 'id', 365, $$uuid_at(now() - interval '5 years')$$, false);
