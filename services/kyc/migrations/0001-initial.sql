create table kyc_application (
  id uuid primary key,
  business_id uuid not null,
  client_id uuid,
  external_id text,
  status text not null
    check (status in ('CREATED', 'OPENED', 'SUBMITTED', 'PROCESSING', 'COMPLETED', 'EXPIRED', 'CANCELED', 'FAILED')),
  provider_id text not null unique,
  link_ciphertext text,
  link_expires_at timestamptz(3) not null,
  metadata text not null,
  allowed_documents text[] not null,
  require_video boolean not null,
  max_attempts integer not null,
  attempts_used integer not null,
  sequence integer not null,
  provider_verdict text,
  verdict text check (verdict in ('APPROVED', 'NEEDS_REVIEW', 'REJECTED')),
  reviewed_at timestamptz(3),
  review_request jsonb,
  cancel_key text,
  reason_codes text[] not null,
  liveness_outcome text,
  face_match_outcome text,
  document_type text,
  document_expiry text check (document_expiry ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  document_notices integer not null,
  nationality text,
  aml_hit_count integer not null,
  aml_decision text,
  completed_at timestamptz(3),
  synced_at timestamptz(3) not null,
  next_check_at timestamptz(3),
  checks integer not null,
  refreshed_at timestamptz(3),
  traceparent text,
  revision integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  -- A verdict there is if and only if the application is COMPLETED.
  check ((status = 'COMPLETED') = (verdict is not null))
);
create index kyc_application_business_created on kyc_application (business_id, created_at desc, id desc);
create index kyc_application_business_status on kyc_application (business_id, status, created_at desc, id desc);
create index kyc_application_business_verdict on kyc_application (business_id, verdict, created_at desc, id desc);
create index kyc_application_business_client on kyc_application (business_id, client_id) where client_id is not null;
create index kyc_application_business_external on kyc_application (business_id, external_id) where external_id is not null;
create index kyc_application_next_check on kyc_application (next_check_at) where next_check_at is not null;
create index kyc_application_link_age on kyc_application (updated_at) where link_ciphertext is not null;
create index kyc_application_link_key on kyc_application (split_part(link_ciphertext, ':', 1), id)
  where link_ciphertext is not null;
create index kyc_application_document on kyc_application (document_expiry)
  where verdict = 'APPROVED' and document_notices < 3;

-- An application that the provider is being asked for. Its id goes with the Idempotency-Key until the application is
-- there, so that whoever asks again, after a crash or an unknown outcome, asks for the same one.
create table link_request (
  application_id uuid primary key,
  business_id uuid not null,
  route text not null,
  key text not null,
  fingerprint text not null,
  leased_until timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  unique (business_id, route, key)
);
create index link_request_created_at on link_request (created_at);

create table provider_event (
  event_id text primary key,
  received_at timestamptz(3) not null default now()
);
create index provider_event_received_at on provider_event (received_at);

-- How far the provider's list of events was read. One row.
create table provider_cursor (
  only_row boolean primary key default true check (only_row),
  cursor text
);
insert into provider_cursor (cursor) values (null);

-- How many rows have which values, for lists that say how many there are without counting: Tally in packages/database.
create table kyc_application_tally as select business_id, status, verdict, 0::bigint as difference from kyc_application with no data;
alter table kyc_application_tally add column is_sum boolean not null default false;
create index kyc_application_tally_business on kyc_application_tally (business_id, status, verdict) include (difference);
create index kyc_application_tally_differences on kyc_application_tally (business_id) where not is_sum;
create function kyc_application_tally_add() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          insert into kyc_application_tally (business_id, status, verdict, difference) select business_id, status, verdict, count(*) from added group by business_id, status, verdict;
        elsif tg_op = 'DELETE' then
          insert into kyc_application_tally (business_id, status, verdict, difference) select business_id, status, verdict, -count(*) from removed group by business_id, status, verdict;
        else
          insert into kyc_application_tally (business_id, status, verdict, difference) select business_id, status, verdict, sum(n) from (
            select business_id, status, verdict, 1 as n from added union all select business_id, status, verdict, -1 from removed
          ) changed group by business_id, status, verdict having sum(n) <> 0;
        end if;
        return null;
      end
    $$;

create trigger kyc_application_tally_insert after insert on kyc_application referencing new table as added
  for each statement execute function kyc_application_tally_add();

create trigger kyc_application_tally_update after update on kyc_application referencing new table as added old table as removed
  for each statement execute function kyc_application_tally_add();

create trigger kyc_application_tally_delete after delete on kyc_application referencing old table as removed
  for each statement execute function kyc_application_tally_add();
