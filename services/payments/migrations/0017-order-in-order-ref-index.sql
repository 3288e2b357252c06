-- Many payments of a business can have the same order_ref. With the order of the list in the index, a
-- list with this filter reads only the rows of its page. Before this migration, create the index of a
-- database with millions of rows by hand, with `create index concurrently`.
create index if not exists payment_business_order_ref_created on payment (business_id, order_ref, created_at desc, id desc)
  where order_ref is not null;
drop index if exists payment_business_order_ref;
