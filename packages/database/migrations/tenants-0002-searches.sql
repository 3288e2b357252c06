-- Under a policy an index serves only comparisons that PostgreSQL itself vouches for, because others
-- could tell of rows that the policy hides: no "like", nothing of lower(). Only a superuser may
-- vouch for more. Lists that search look up which rows they show in <table>_of_tenants, where the
-- policy's condition is one among the others, and read the rows themselves from the table. A view
-- is read with its owner's rights, who is above the policy.
create function show_to_tenants(kept regclass) returns void language plpgsql as $$
  begin
    execute format($view$
      create view %s_of_tenants as select * from %s where
        (select coalesce(current_setting('amana.business', true), '*') = '*')
        or business_id = any ((select case when current_setting('amana.business', true) like '{%%'
          then current_setting('amana.business', true)::uuid[] end)::uuid[])
      with check option
    $view$, kept, kept);
  end
$$;
