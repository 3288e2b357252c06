-- Many applications of a business can have the same client or external id. With the order of the list
-- in the indexes, a list with such a filter reads only the rows of its page. Before this migration,
-- create the indexes of a database with millions of rows by hand, with `create index concurrently`.
create index if not exists kyc_application_business_client_created on kyc_application (business_id, client_id, created_at desc, id desc)
  where client_id is not null;
create index if not exists kyc_application_business_external_created
  on kyc_application (business_id, external_id, created_at desc, id desc) where external_id is not null;
drop index if exists kyc_application_business_client;
drop index if exists kyc_application_business_external;
