-- What the card processor was asked about a payment, and what came of it, for an operator who has to explain the payment. Kept for 30
-- days, by partitions: packages/database/migrations/partitions-0001-initial.sql. The id's time is that of the transaction that recorded it.
create table processor_call (
  id uuid primary key,
  business_id uuid not null,
  payment_id uuid not null,
  refund_id uuid,
  operation text not null,
  outcome text not null,
  detail text,
  at timestamptz(3) not null,
  duration_ms integer not null
) partition by range (id);
create index processor_call_business_payment on processor_call (business_id, payment_id, id);
create table processor_call_earlier partition of processor_call default;
insert into partition_rule (table_name, key_column, days_each, gone_below)
  values ('processor_call', 'id', 10, $$uuid_at(now() - interval '30 days')$$);
select keep_to_tenants('processor_call');
-- Later partitions are nobody's but through the table.
select keep_to_tenants('processor_call_earlier');
