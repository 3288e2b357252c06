-- Many clients of a business can have the same code. With the order of the list in the index, a list
-- with this filter reads only the rows of its page. Before this migration, create the index of a
-- database with millions of rows by hand, with `create index concurrently`.
create index if not exists client_business_external_created on client (business_id, external_client_code, created_at desc, id desc)
  where external_client_code is not null;
drop index if exists client_business_external;
