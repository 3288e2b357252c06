-- After a restore or a failover, refunds wait until what was sent, and is not in these rows any more, must have shown.
create table refund_hold (
  only_row boolean primary key default true check (only_row),
  -- Which history of which database these rows are of. Null until the service has looked for the first time.
  history text,
  held_until timestamptz(3)
);
insert into refund_hold default values;
