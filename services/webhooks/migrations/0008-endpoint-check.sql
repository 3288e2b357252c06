-- When a receiver was last checked, so that nobody uses checks to flood a host.
alter table webhook_endpoint add column checked_at timestamptz(3);
