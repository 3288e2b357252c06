-- A replay no longer keeps partitions of events: one that runs for weeks would keep them for as long.
-- Deliveries of events that are older than 30 days are deleted, so it finds nothing there to send.
update partition_rule set gone_below = $$(select least(
  uuid_at(now() - interval '30 days'),
  (select id from event_tally_from),
  (select event_id from (select event_id from delivery where status = 'PENDING' offset 0) pending order by 1 limit 1)
))$$ where table_name = 'event';
