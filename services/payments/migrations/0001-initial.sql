create table payment (
  id uuid primary key,
  business_id uuid not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  status text not null,
  language text not null,
  success_url text not null,
  fail_url text not null,
  description text,
  order_ref text,
  return_token text not null unique,
  processor_order_number text not null unique check (processor_order_number ~ '^[0-9]{10}$'),
  processor_order_id text unique,
  form_url text,
  processor_error_code text,
  processor_order_status integer,
  action_code text,
  action_code_description text,
  resp_code text,
  resp_code_desc text,
  approval_code text,
  masked_pan text,
  card_brand text,
  refunded_amount_minor bigint check (refunded_amount_minor > 0 and refunded_amount_minor <= amount_minor),
  idempotency_id uuid,
  traceparent text,
  checked_at timestamptz(3),
  checks integer not null default 0,
  next_check_at timestamptz(3),
  leased_until timestamptz(3),
  lease_token uuid,
  paid_at timestamptz(3),
  origin text,
  refund_ended_at timestamptz(3),
  next_reread_at timestamptz(3),
  processor_refunded_minor bigint,
  processor_read_at timestamptz(3),
  difference text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index payment_business_created on payment (business_id, created_at desc, id desc);
create index payment_business_status on payment (business_id, status, created_at desc, id desc);
create index payment_business_order_ref on payment (business_id, order_ref) where order_ref is not null;
-- In the order in which the reconciler takes them: those known to be paid first, then the oldest.
create index payment_due on payment (business_id, (processor_order_status is distinct from 2), created_at)
  include (next_check_at) where next_check_at is not null;
create index payment_reread_due on payment (business_id, next_reread_at) where next_reread_at is not null;
create index payment_changed_elsewhere on payment (created_at desc, id desc) where origin is not null or difference is not null;

create table refund (
  id uuid primary key,
  business_id uuid not null,
  payment_id uuid not null references payment (id),
  amount_minor bigint not null check (amount_minor > 0),
  status text not null,
  refunded_before_minor bigint,
  processor_error_code text,
  sends integer not null default 0,
  last_sent_at timestamptz(3),
  resend_after timestamptz(3),
  decision_due_at timestamptz(3) not null,
  needs_decision_since timestamptz(3),
  decision_reason text,
  resolution text,
  processor_refunded_minor bigint,
  processor_order_status integer,
  processor_read_at timestamptz(3),
  checks integer not null default 0,
  next_check_at timestamptz(3),
  leased_until timestamptz(3),
  lease_token uuid,
  idempotency_id uuid,
  traceparent text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index refund_business_payment on refund (business_id, payment_id);
-- At most one refund of a payment is under way: the second wall behind the payment's row lock.
create unique index refund_one_active on refund (payment_id) where status in ('REQUESTED', 'SENT', 'UNKNOWN');
create index refund_due on refund (business_id, next_check_at) where next_check_at is not null;
create index refund_created on refund (created_at desc, id desc);
create index refund_needs_decision on refund (created_at desc, id desc) where needs_decision_since is not null;
