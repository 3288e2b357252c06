-- Many clients of a business can have the same external_client_code. The index contains the order
-- of the list, so that a list with this filter does not read and sort all rows with the code. In
-- a database with millions of clients, create the index before the migration, with
-- `create index concurrently`.
create index if not exists client_business_external_created on client (business_id, external_client_code, created_at desc, id desc)
  where external_client_code is not null;
drop index if exists client_business_external;
