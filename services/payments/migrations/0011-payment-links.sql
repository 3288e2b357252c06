create table payment_link (
  id uuid primary key,
  business_id uuid not null,
  -- Last part of the URL of the checkout page: 128 random bits in base64url.
  token text not null unique check (token ~ '^[A-Za-z0-9_-]{22}$'),
  name text not null,
  description text,
  amount_minor bigint check (amount_minor > 0),
  amount_min_minor bigint check (amount_min_minor > 0),
  amount_max_minor bigint check (amount_max_minor > amount_min_minor),
  currency text not null,
  language text not null,
  order_ref text,
  name_rule text not null,
  email_rule text not null,
  phone_rule text not null,
  success_url text,
  fail_url text,
  conditions_url text,
  max_payments integer check (max_payments > 0),
  expires_at timestamptz(3),
  metadata text not null,
  is_active boolean not null,
  payments_paid integer not null check (payments_paid >= 0),
  amount_paid_minor bigint not null check (amount_paid_minor >= 0),
  amount_refunded_minor bigint not null check (amount_refunded_minor >= 0),
  search_text text not null generated always as (lower(normalize(name || coalesce(E'\n' || order_ref, ''), nfc))) stored,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  constraint payment_link_amount check (
    (amount_minor is null) <> (amount_min_minor is null) and (amount_min_minor is null) = (amount_max_minor is null)
  )
);
-- A search reads the text from this index. A business has few links, so no trigrams are needed.
create index payment_link_business_created on payment_link (business_id, created_at desc, id desc) include (search_text);
select keep_to_tenants('payment_link');
select show_to_tenants('payment_link');

alter table payment
  add column if not exists payment_link_id uuid,
  add column if not exists form_token text,
  add column if not exists customer_name text,
  add column if not exists customer_email text,
  add column if not exists customer_phone text,
  add column if not exists conditions_version text,
  add column if not exists conditions_accepted_at timestamptz(3);
-- No payment has a value in these columns before this migration, so the indexes are empty and are
-- created after one scan of the table. On a large table, add the columns and create the indexes by
-- hand before the migration, with `create index concurrently`.
create unique index if not exists payment_business_form_token on payment (business_id, payment_link_id, form_token)
  where payment_link_id is not null;
create index if not exists payment_business_link on payment (business_id, payment_link_id, created_at desc, id desc)
  where payment_link_id is not null;
create index if not exists payment_business_link_pending on payment (business_id, payment_link_id, created_at)
  where payment_link_id is not null and status = 'PENDING';
create index if not exists payment_business_customer_email on payment (business_id, lower(customer_email), created_at desc, id desc)
  where customer_email is not null;
-- Under row-level security, an index serves lower() and the page token only through this view.
select show_to_tenants('payment');
