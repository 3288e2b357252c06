-- Tables from which old rows go with a partition instead of one by one. They are partitioned by a
-- UUIDv7, which begins with its time, so that a primary key stays one. A migration attaches the
-- table that was there before as the default partition, called <table>_earlier, which moves and
-- scans nothing; keep_partitions, called by the running service, does all the rest.
create table partition_rule (
  table_name text primary key,
  key_column text not null,
  days_each integer not null,
  -- SQL of one value: rows whose key is lower are needed by nobody.
  gone_below text not null,
  -- False: they go with their partition or not at all.
  one_by_one boolean not null default true
);

-- What a rule says is executed as the owner, so only the owner writes rules.
do $$
  declare name text;
  begin
    for name in select distinct grantee from information_schema.role_table_grants where table_name = 'partition_rule' and grantee <> current_user loop
      execute format('revoke all on partition_rule from %s', case name when 'PUBLIC' then 'public' else quote_ident(name) end);
    end loop;
  end
$$;

-- Lower than any UUIDv7 of that millisecond or later, and higher than all before.
create function uuid_at(at timestamptz) returns uuid immutable parallel safe language sql
  return (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

create function uuid_time(id uuid) returns timestamptz immutable parallel safe language sql
  return to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);

-- The partitions of a table, and between which values each has its rows; the default has no bounds.
create function partitions_of(parent regclass) returns table (part regclass, name text, is_default boolean, lower uuid, upper uuid)
language sql stable as $$
  select c.oid::regclass, c.relname::text, bound = 'DEFAULT', substring(bound from 'FROM \(''([^'']+)')::uuid, substring(bound from 'TO \(''([^'']+)')::uuid
  from pg_inherits i join pg_class c on c.oid = i.inhrelid cross join lateral pg_get_expr(c.relpartbound, c.oid) as bound
  where i.inhparent = parent
$$;

-- A partition without rows, beside the table. Whoever may use the table does so through it alone. A
-- table that refuses to be emptied has partitions that do; of triggers, only those for each row are
-- a partition's by themselves.
create function new_partition(parent regclass, name text) returns regclass language plpgsql as $$
  declare
    role text;
    guard record;
  begin
    execute format('create table %I (like %s including defaults including constraints including indexes including storage)', name, parent);
    for role in
      select distinct case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end
      from pg_class c cross join aclexplode(c.relacl) where c.oid = name::regclass and grantee <> c.relowner
    loop
      execute format('revoke all on %I from %s', name, role);
    end loop;
    for guard in select tgname, tgfoid::regproc as refuse from pg_trigger where tgrelid = parent and not tgisinternal and tgtype & 33 = 32 loop
      execute format('create trigger %I before truncate on %I for each statement execute function %s()', guard.tgname, name, guard.refuse);
      execute format('alter table %I enable always trigger %I', name, guard.tgname);
    end loop;
    return name::regclass;
  end
$$;

-- The table that was there before becomes the partition of all until the next boundary. Its rows
-- are looked at under a lock that disturbs neither reads nor writes, in a transaction of its own.
create function adopt_earlier(rule partition_rule, earlier regclass) returns text language plpgsql as $$
  declare
    day constant interval := interval '1 day';
    known record;
    until timestamptz;
    newest uuid;
  begin
    select convalidated, substring(pg_get_constraintdef(oid) from '''([^'']+)''')::uuid as bound into known
    from pg_constraint where conrelid = earlier and conname = 'earlier';
    if known.bound is null then
      execute format('select %I from %s order by 1 desc limit 1', rule.key_column, earlier) into newest;
      -- Clocks of those who make ids may be ahead.
      until := greatest(now(), uuid_time(newest)) + day;
      if until > now() + 366 * day then
        raise exception '% has ids of the year %: no partitions can begin before', earlier, extract(year from until);
      end if;
      until := to_timestamp(ceil(extract(epoch from until) / 86400 / rule.days_each) * rule.days_each * 86400);
      execute format('alter table %s add constraint earlier check (%I < %L) not valid', earlier, rule.key_column, uuid_at(until));
      return 'is about to begin its partitions';
    end if;
    -- Rows that come then would be refused.
    if uuid_time(known.bound) < now() + interval '1 hour' then
      execute format('alter table %s drop constraint earlier', earlier);
      return 'did not begin its partitions in time';
    end if;
    if not known.convalidated then
      execute format('alter table %s validate constraint earlier', earlier);
      return 'has no row after the first partition';
    end if;
    execute format('alter table %I detach partition %s', rule.table_name, earlier);
    execute format('alter table %I attach partition %s for values from (minvalue) to (%L)', rule.table_name, earlier, known.bound);
    execute format('alter table %s drop constraint earlier', earlier);
    execute format('alter table %I attach partition %s default', rule.table_name,
      new_partition(rule.table_name::regclass, rule.table_name || '_default'));
    return 'has its first partition';
  end
$$;

-- The next partition, with what the default has of it: nothing, unless a clock was far ahead.
create function add_partition(rule partition_rule, from_id uuid, fallback regclass) returns text language plpgsql as $$
  declare
    begins timestamptz := uuid_time(from_id);
    to_id uuid := uuid_at(begins + rule.days_each * interval '1 day');
    name text := rule.table_name || to_char(begins at time zone 'UTC', '_YYYYMMDD');
    part regclass := new_partition(rule.table_name::regclass, name);
    is_early boolean;
  begin
    execute format('select exists (select from %s where %I >= %L and %2$I < %4$L)', fallback, rule.key_column, from_id, to_id) into is_early;
    if is_early then
      execute format('with moved as (delete from %s where %I >= %L and %2$I < %4$L returning *) insert into %5$s select * from moved',
        fallback, rule.key_column, from_id, to_id, part);
    end if;
    execute format('alter table %I attach partition %s for values from (%L) to (%L)', rule.table_name, part, from_id, to_id);
    return 'has a new partition: ' || name;
  end
$$;

-- What is the next thing to do for a table is done; null: nothing.
create function keep_table(rule partition_rule) returns text language plpgsql as $$
  declare
    parent regclass := rule.table_name::regclass;
    fallback regclass := (select part from partitions_of(parent) where is_default);
    last_upper uuid := (select upper from partitions_of(parent) where upper is not null order by 1 desc limit 1);
    below uuid;
    old record;
    deleted integer;
  begin
    if last_upper is null then return adopt_earlier(rule, fallback); end if;
    -- One partition more than is in use.
    if last_upper < uuid_at(now() + rule.days_each * interval '1 day') then return add_partition(rule, last_upper, fallback); end if;

    execute 'select ' || rule.gone_below into below;
    select * into old from partitions_of(parent) where upper <= below order by upper limit 1;
    if found then
      execute format('drop table %s', old.part);
      return 'has lost a partition: ' || old.name;
    end if;
    -- What the default got, and what the table from before has until it is old enough as a whole,
    -- goes one by one.
    for old in select * from partitions_of(parent) where rule.one_by_one and (is_default or lower is null) loop
      execute format('delete from %s where ctid = any (array(select ctid from %1$s where %I < %L order by %2$I limit 5000 for update skip locked))',
        old.part, rule.key_column, below);
      get diagnostics deleted = row_count;
      if deleted > 0 then return format('has lost %s rows of %s', deleted, old.name); end if;
    end loop;
    -- Nobody else gathers statistics of the table as a whole.
    if coalesce((select last_analyze from pg_stat_user_tables where relid = parent), '-infinity') < now() - interval '1 day' then
      execute format('analyze only %s', parent);
    end if;
    return null;
  end
$$;

-- Does one thing, in a transaction of its own, and says which; null: nothing was left to do. As the
-- owner of the tables, because the service may neither make nor drop one; it takes no argument, so
-- nobody can make it do anything else. It waits for a lock, as of a backup, for a moment only,
-- because others wait behind it; the next round tries again.
create function keep_partitions() returns text language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '200ms' as $$
  declare
    rule partition_rule;
    done text;
    problem text;
  begin
    if not pg_try_advisory_xact_lock(5318009) then return null; end if;
    for rule in select * from partition_rule order by table_name loop
      begin
        done := keep_table(rule);
        if done is not null then return rule.table_name || ' ' || done; end if;
      exception when others then
        problem := coalesce(problem || '; ', '') || rule.table_name || ': ' || sqlerrm;
      end;
    end loop;
    if problem is not null then raise exception '%', problem; end if;
    return null;
  end
$$;

-- Tables with rows whose ids say no time that they can be of: each stands in the default partition.
create function partitions_overflowed() returns text[] language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    rule partition_rule;
    fallback regclass;
    has_rows boolean;
    found_in text[] := '{}';
  begin
    for rule in select * from partition_rule order by table_name loop
      fallback := (select part from partitions_of(rule.table_name::regclass) where is_default and name like '%\_default');
      continue when fallback is null;
      execute format('select exists (select from %s)', fallback) into has_rows;
      if has_rows then found_in := found_in || rule.table_name; end if;
    end loop;
    return found_in;
  end
$$;
