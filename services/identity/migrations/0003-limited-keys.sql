-- Keys that may be used from some networks alone. Their hashes stand in a column of their own, so
-- that a replica of the version before, which cannot tell the gateway of the networks, does not
-- find such a key and refuses it. A later release moves them into `hash`.
alter table api_key add column allowed_ips text[];
alter table api_key add column restricted_hash bytea;
alter table api_key alter column hash drop not null;
alter table api_key add constraint api_key_one_hash check (
  num_nonnulls(hash, restricted_hash) = 1
  and (restricted_hash is null) = (allowed_ips is null)
  and octet_length(restricted_hash) = 32
  and cardinality(allowed_ips) > 0
) not valid;
create unique index api_key_restricted_hash on api_key (restricted_hash) where restricted_hash is not null;

-- A key that replaces another may be used from nowhere else, whichever version makes it.
create function api_key_keep_allowed_ips() returns trigger language plpgsql as $$
  begin
    if not exists (select from api_key where id = new.replaced_by and allowed_ips = new.allowed_ips) then
      raise exception 'a key that replaces another keeps its allowed_ips';
    end if;
    return null;
  end
$$;
create constraint trigger api_key_keep_allowed_ips after update of replaced_by on api_key
  deferrable initially deferred for each row
  when (new.replaced_by is not null and new.allowed_ips is not null)
  execute function api_key_keep_allowed_ips();
