-- Unique keys of tenants' rows contain the business, so that a business can have a database of its
-- own (docs/scaling.md). These take the places of indexes that were not unique; the unique keys on
-- the client alone go in a later release. In a large database both are made by hand before:
-- create unique index concurrently.
create unique index if not exists onboarding_business_client_key on onboarding (business_id, client_id);
create unique index if not exists onboarding_details_business_client_key on onboarding_details (business_id, client_id);
drop index onboarding_business_client;
drop index onboarding_details_business_client;
