-- Due checks are taken under a lease in the row, business by business. The former version looks for them through
-- kyc_application_next_check, which goes with link_request and cancel_key once no replica of that version runs.
alter table kyc_application add column leased_until timestamptz(3), add column lease_token uuid;
create index if not exists kyc_application_due on kyc_application (business_id, next_check_at) where next_check_at is not null;

-- The id that an application gets is that of its Idempotency-Key from now on. Those that the provider was asked for without a
-- known outcome keep theirs.
insert into idempotency_key (id, scope, route, key, fingerprint, held_until, created_at)
  select application_id, business_id, route, key, fingerprint, leased_until, created_at from link_request
  on conflict do nothing;
