-- Rows of one business are seen and written for that business alone, whatever a statement says.
-- The policy binds the role that a service runs as. The owner, who migrates, is above it.
-- A session says for whom it works in amana.business: '*' for all, an array of ids, or nothing, and
-- then there are no rows. A version from before never sets it, and sees all until its replicas go.
create function keep_to_tenants(kept regclass, or_rows text default 'false') returns void language plpgsql as $$
  begin
    execute format('alter table %s enable row level security', kept);
    -- Within selects: evaluated once for a statement, and not for each row.
    execute format($policy$
      create policy tenants on %s using (
        (select coalesce(current_setting('amana.business', true), '*') = '*')
        or business_id = any ((select case when current_setting('amana.business', true) like '{%%'
          then current_setting('amana.business', true)::uuid[] end)::uuid[])
        or %s
      )
    $policy$, kept, or_rows);
  end
$$;

-- A tally has a row of no business, which says that it is not counted yet.
create function keep_tally_to_tenants(kept regclass) returns void language sql as $$
  select keep_to_tenants(kept, $row$business_id = '00000000-0000-0000-0000-000000000000'$row$)
$$;
