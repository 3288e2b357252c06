-- A business can have many expired keys. Its live keys are read from this index (liveKeysSql in
-- api-key/live-keys.ts). Before this migration, create the index of a database with millions of keys
-- by hand, with `create index concurrently`.
create index if not exists api_key_live on api_key (business_id, expires_at) where revoked_at is null;
