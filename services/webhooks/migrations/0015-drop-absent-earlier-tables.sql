-- Drops the empty tables of 0014-absent-earlier-tables. A table with rows from before there were
-- partitions is a partition, and stays.
do $$
  declare placeholder regclass;
  begin
    for placeholder in
      select oid::regclass from pg_class
      where oid in (to_regclass('event_earlier'), to_regclass('delivery_attempt_earlier')) and not relispartition and relnatts = 1
    loop
      execute format('drop table %s', placeholder);
    end loop;
  end
$$;
