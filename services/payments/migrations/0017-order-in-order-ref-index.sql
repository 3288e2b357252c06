-- Many payments of a business can have the same order_ref. The index contains the order of the
-- list, so that a list with this filter does not read and sort all rows with the order_ref. In a
-- database with millions of payments, create the index before the migration, with
-- `create index concurrently`.
create index if not exists payment_business_order_ref_created on payment (business_id, order_ref, created_at desc, id desc)
  where order_ref is not null;
drop index if exists payment_business_order_ref;
