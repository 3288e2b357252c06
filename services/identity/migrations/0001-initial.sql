create table business (
  id uuid primary key,
  name text not null,
  status text not null check (status in ('PENDING', 'ACTIVE', 'DISABLED', 'REJECTED')),
  organization_id integer not null generated always as identity unique,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index business_newest on business (created_at desc, id desc);
create index business_newest_of_status on business (status, created_at desc, id desc);

create table api_key (
  id uuid primary key,
  business_id uuid not null references business (id),
  name text not null,
  prefix text not null,
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  replaced_by uuid,
  revoked_at timestamptz(3)
);
create index api_key_newest on api_key (business_id, created_at desc, id desc);

create table admin_key (
  id uuid primary key,
  name text not null,
  prefix text not null,
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);

create table audit_event (
  id uuid primary key,
  at timestamptz(3) not null,
  actor text not null,
  action text not null,
  entity_type text not null,
  entity_id uuid not null,
  business_id uuid,
  before jsonb,
  after jsonb,
  request_id text not null,
  address text not null,
  reason text
);
create index audit_event_of_business on audit_event (business_id, at desc, id desc);
create index audit_event_newest on audit_event (at desc, id desc);

create function audit_event_refuse_change() returns trigger language plpgsql as $$
        begin
          raise exception 'audit_event is append-only: % is refused', lower(tg_op);
        end
      $$;
create trigger audit_event_append_only before update or delete or truncate on audit_event
  for each statement execute function audit_event_refuse_change();
alter table audit_event enable always trigger audit_event_append_only;
do $$
        declare name text;
        begin
          -- Whoever may use this service's tables may add to the trail and read it, nothing more.
          for name in select distinct grantee from information_schema.role_table_grants where table_name = 'audit_event' loop
            execute format('revoke update, delete, truncate, references, trigger on audit_event from %s',
              case name when 'PUBLIC' then 'public' else quote_ident(name) end);
          end loop;
        end
      $$;
