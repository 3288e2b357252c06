-- A business can have many expired keys. With this index, identity reads only the live keys
-- (liveKeysSql in api-key/live-keys.ts). In a database with millions of keys, create the index
-- before the migration, with `create index concurrently`.
create index if not exists api_key_live on api_key (business_id, expires_at) where revoked_at is null;
