-- Until when whoever claimed a key may be at work; null: until it has ended. Afterwards the same request may go on with it.
alter table idempotency_key add column held_until timestamptz(3);
