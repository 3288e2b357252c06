create table webhook_endpoint (
  id uuid primary key,
  business_id uuid not null,
  url text not null,
  status text not null check (status in ('ACTIVE', 'DISABLED')),
  events text[] not null,
  secret_ciphertext text not null,
  previous_secret_ciphertext text,
  previous_secret_until timestamptz(3),
  failing_since timestamptz(3),
  slow boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index webhook_endpoint_business_created on webhook_endpoint (business_id, created_at desc, id desc);

-- Events and what hangs on them come and go by the thousand; they are written together and deleted together, so foreign
-- keys would check on every row what one statement already guarantees.
create table event (
  id uuid primary key,
  business_id uuid not null,
  type text not null,
  body text not null,
  created_at timestamptz(3) not null
);
create index event_business_created on event (business_id, created_at desc, id desc);
create index event_business_type_created on event (business_id, type, created_at desc, id desc);
create index event_created on event (created_at);

create table delivery (
  id uuid primary key,
  business_id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  status text not null check (status in ('PENDING', 'SUCCEEDED', 'FAILED', 'SKIPPED')),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) check ((status = 'PENDING') = (next_attempt_at is not null)),
  lease_token uuid,
  leased_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  unique (event_id, endpoint_id)
);
create index delivery_business_event on delivery (business_id, event_id);
create index delivery_due on delivery (business_id, endpoint_id, greatest(next_attempt_at, leased_until))
  where status = 'PENDING';

create table delivery_attempt (
  id bigint generated always as identity,
  delivery_id uuid not null,
  business_id uuid not null,
  at timestamptz(3) not null,
  status_code integer,
  error text,
  duration_ms integer not null,
  response text,
  primary key (delivery_id, id)
);
