-- Each application remembers its provider. Rows of the previous version, and rows that its replicas
-- still insert, belong to the provider of our own protocol.
alter table kyc_application
  add column provider text not null default 'port',
  add column provider_asked_at timestamptz(3),
  add column provider_state_hash text,
  add column closing text,
  -- REQUESTED or DONE: deletion of the applicant's data at the provider.
  add column erasure text,
  add column profile_keys text[] not null default '{}';
-- In a large database the index is made by hand before: create unique index concurrently.
create unique index if not exists kyc_application_provider_id on kyc_application (provider, provider_id);
alter table kyc_application drop constraint if exists kyc_application_provider_id_key;
-- Counts the open applications of each provider before a former one is removed from the settings.
create index if not exists kyc_application_open_provider on kyc_application (provider) where next_check_at is not null;
