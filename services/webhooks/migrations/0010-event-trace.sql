-- The W3C trace context of what happened: attempts, which may come hours later, go on in it.
alter table event add column traceparent text;
