-- When a payment is read again after it expired, or after a refund of ours ended. A column of its own: these reads do not wait behind
-- next_reread_at, and an older version, which would not move the time of an EXPIRED payment, does not find them. On a large table run
-- these statements by hand before the migration, with "create index concurrently".
alter table payment add column if not exists next_follow_up_at timestamptz(3);
create index if not exists payment_follow_up_due on payment (business_id, next_follow_up_at) where next_follow_up_at is not null;
create index if not exists payment_next_follow_up on payment (next_follow_up_at) where next_follow_up_at is not null;
