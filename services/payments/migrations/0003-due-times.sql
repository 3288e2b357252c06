-- What is due is found by its time; the indexes that begin with the business then give each one's rows in their order.
create index if not exists payment_next_check on payment (next_check_at) where next_check_at is not null;
create index if not exists payment_next_reread on payment (next_reread_at) where next_reread_at is not null;
create index if not exists refund_next_check on refund (next_check_at) where next_check_at is not null;
