-- How the attempts of the last day went, by endpoint, five minutes and how long they took, so that nobody has to read them.
-- A row is updated every two seconds for five minutes, so pages keep room for that.
create table endpoint_health (
  business_id uuid not null,
  endpoint_id uuid not null,
  since timestamptz(3) not null,
  -- Quarter powers of two: 40 is from 1024 to 1217 ms.
  duration_class smallint not null,
  succeeded integer not null,
  failed integer not null,
  primary key (business_id, endpoint_id, since, duration_class)
) with (fillfactor = 50);
create index endpoint_health_since on endpoint_health (since);

-- Of the newest attempt that failed: the word for why no answer came, or "http_" and the status.
alter table webhook_endpoint add column last_error text;
