alter table payment add column refunded_at timestamptz(3);
-- A counter, because the rows of receipt_mail are deleted after 30 days.
alter table payment add column receipt_mails integer not null default 0;

-- E-mails with a receipt. next_attempt_at is null after the last attempt. Addresses are personal data: rows are deleted after 30 days.
create table receipt_mail (
  id uuid primary key,
  business_id uuid not null,
  payment_id uuid not null,
  email text not null,
  language text not null,
  -- Name of the seller at the time of the request. This service stores no businesses.
  business_name text not null,
  status text not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  leased_until timestamptz(3),
  lease_token uuid,
  traceparent text,
  created_at timestamptz(3) not null
);
create index receipt_mail_business_payment on receipt_mail (business_id, payment_id, created_at);
create index receipt_mail_due on receipt_mail (business_id, next_attempt_at) where next_attempt_at is not null;
create index receipt_mail_next_attempt on receipt_mail (next_attempt_at) where next_attempt_at is not null;
create index receipt_mail_created on receipt_mail (created_at);
select keep_to_tenants('receipt_mail');
