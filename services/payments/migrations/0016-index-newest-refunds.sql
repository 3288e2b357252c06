-- RefundPayment and GetPaymentHistory read the newest refunds of a payment. The index replaces an
-- index without the id. In a database with millions of refunds, create the index before the
-- migration, with `create index concurrently`.
create index if not exists refund_newest_of_payment on refund (business_id, payment_id, id desc);
drop index if exists refund_business_payment;
