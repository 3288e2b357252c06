select keep_to_tenants('payment');
select keep_to_tenants('refund');
select keep_tally_to_tenants('payment_tally');

-- A number is the processor's, so no business's payment may have it. It tells nothing else.
create function order_number_is_taken(number text) returns boolean
stable security definer set search_path = pg_catalog, public, pg_temp language sql as $$
  select exists (select from payment where processor_order_number = number)
$$;
