-- What the default partition has of the next one, because a clock was ahead, is moved while nobody
-- adds to it, past triggers that refuse a change, for it is none. Where nobody kept partitions for a
-- while (a version from before them was taken back), rows of now are in the default and more come:
-- they stay, go one by one when they are old, and the next partition begins behind them.
create or replace function add_partition(rule partition_rule, from_id uuid, fallback regclass) returns text language plpgsql as $$
  declare
    day constant interval := interval '1 day';
    begins timestamptz := uuid_time(from_id);
    to_id uuid := uuid_at(begins + rule.days_each * day);
    name text;
    part regclass;
    newest uuid;
    guard text;
    guards text[];
    is_early boolean;
  begin
    execute format('select exists (select from %s where %I >= %L and %2$I < %4$L)', fallback, rule.key_column, from_id, to_id) into is_early;
    if is_early and begins <= now() then
      -- More than a year ahead is no time that an id can be of.
      execute format('select %I from %s where %1$I < %3$L order by 1 desc limit 1', rule.key_column, fallback, uuid_at(now() + 366 * day)) into newest;
      begins := to_timestamp(ceil(extract(epoch from greatest(now(), uuid_time(newest)) + day) / 86400 / rule.days_each) * rule.days_each * 86400);
      from_id := uuid_at(begins);
      to_id := uuid_at(begins + rule.days_each * day);
      is_early := false;
    end if;

    name := rule.table_name || to_char(begins at time zone 'UTC', '_YYYYMMDD');
    part := new_partition(rule.table_name::regclass, name);
    if is_early then
      execute format('lock table %s in access exclusive mode', fallback);
      guards := array(select tgname from pg_trigger where tgrelid = fallback and not tgisinternal and tgenabled = 'A');
      foreach guard in array guards loop
        execute format('alter table %s disable trigger %I', fallback, guard);
      end loop;
      execute format('with moved as (delete from %s where %I >= %L and %2$I < %4$L returning *) insert into %5$s select * from moved',
        fallback, rule.key_column, from_id, to_id, part);
      foreach guard in array guards loop
        execute format('alter table %s enable always trigger %I', fallback, guard);
      end loop;
    end if;
    execute format('alter table %I attach partition %s for values from (%L) to (%L)', rule.table_name, part, from_id, to_id);
    return 'has a new partition: ' || name;
  end
$$;
