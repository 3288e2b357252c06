-- Many applications of a business can have the same client_id or external_id. The indexes contain
-- the order of the list, so that a list with one of these filters does not read and sort all rows
-- with the id. In a database with millions of applications, create the indexes before the
-- migration, with `create index concurrently`.
create index if not exists kyc_application_business_client_created on kyc_application (business_id, client_id, created_at desc, id desc)
  where client_id is not null;
create index if not exists kyc_application_business_external_created
  on kyc_application (business_id, external_id, created_at desc, id desc) where external_id is not null;
drop index if exists kyc_application_business_client;
drop index if exists kyc_application_business_external;
