-- The oldest event that a delivery is pending for is looked for among what is pending, in any order
-- ("offset 0"), and not from the oldest delivery on: with many pending the planner expects to find
-- one soon, and walks past all that have ended.
update partition_rule set gone_below = $$(select least(
  uuid_at(now() - interval '30 days'),
  (select id from event_tally_from),
  (select event_id from (select event_id from delivery where status = 'PENDING' offset 0) pending order by 1 limit 1),
  (select uuid_at(min(since)) from webhook_replay where next_step_at is not null)
))$$ where table_name = 'event';
