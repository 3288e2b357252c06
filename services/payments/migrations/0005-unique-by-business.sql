-- Unique keys of tenants' rows contain the business, so that a business can have a database of its
-- own (docs/scaling.md). The one on the payment alone goes in a later release.
create unique index if not exists refund_one_active_of_payment on refund (business_id, payment_id)
  where status in ('REQUESTED', 'SENT', 'UNKNOWN');
