-- What gateways let through, counted together. Lost with a crash of the database and full again then,
-- which is why it is not logged: a limit is not worth a write to disk.
create unlogged table token_bucket (
  name text collate "C" primary key check (length(name) <= 200),
  per_second double precision not null check (per_second > 0),
  burst double precision not null check (burst > 0),
  -- As of the time beside it.
  tokens double precision not null,
  at timestamptz not null
) with (fillfactor = 50);
