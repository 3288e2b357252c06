-- A replay walks through its events twice, oldest first: to count its deliveries, then to start them anew.
create table webhook_replay (
  id uuid primary key,
  business_id uuid not null,
  endpoint_id uuid not null,
  status text not null check (status in ('RUNNING', 'DONE')),
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  types text[] not null,
  statuses text[] not null,
  is_counted boolean not null default false,
  matched integer not null default 0,
  sent integer not null default 0,
  -- The last event that this walk has come to.
  reached_at timestamptz(3) not null,
  reached_id uuid not null,
  next_step_at timestamptz(3) check ((status = 'RUNNING') = (next_step_at is not null)),
  lease_token uuid,
  leased_until timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create unique index webhook_replay_running on webhook_replay (business_id, endpoint_id) where next_step_at is not null;
create index webhook_replay_business_step on webhook_replay (business_id, next_step_at) where next_step_at is not null;
create index webhook_replay_step on webhook_replay (next_step_at) where next_step_at is not null;
create index webhook_replay_created on webhook_replay (created_at);
