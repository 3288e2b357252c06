-- A refund reads the newest refunds of its payment. The index replaces an index without the id.
-- In a database with millions of refunds, create this index before the migration, with
-- `create index concurrently`.
create index if not exists refund_newest_of_payment on refund (business_id, payment_id, id desc);
drop index if exists refund_business_payment;
