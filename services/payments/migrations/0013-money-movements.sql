-- Changes of the money that a business has received, for its statement. A trigger inserts the rows,
-- so that they are part of the statement that changes the payment: no additional round trip, and
-- replicas of the previous version, which do not know this table, insert them too.
create table money_movement (
  business_id uuid not null,
  -- Time of the change by the database's clock, the payment's updated_at. It is not earlier than the
  -- start of its transaction; services/payments/src/statement/statement-lines.ts relies on that.
  at timestamptz(3) not null,
  -- Orders the rows of one transaction.
  id uuid not null default uuidv7(),
  payment_id uuid not null,
  type text not null check (type in ('PAYMENT', 'REFUND', 'REVERSAL')),
  -- Negative for refunds and reversals.
  amount_minor bigint not null,
  origin text,
  primary key (business_id, at, id)
);
select keep_to_tenants('money_movement');

create function money_movement_refuse_change() returns trigger language plpgsql as $$
  begin
    raise exception 'money_movement is append-only: % is refused', lower(tg_op);
  end
$$;
create trigger append_only before update or delete or truncate on money_movement
  for each statement execute function money_movement_refuse_change();
alter table money_movement enable always trigger append_only;

-- The sum of a payment's rows always equals its amount minus what was given back.
create function record_money_movements() returns trigger language plpgsql as $$
  declare
    refunded bigint := coalesce(new.refunded_amount_minor, 0);
    refunded_before bigint := coalesce(old.refunded_amount_minor, 0);
  begin
    if new.status in ('PAID', 'REFUNDED') and old.status not in ('PAID', 'REFUNDED') then
      insert into money_movement (business_id, at, payment_id, type, amount_minor)
      values (new.business_id, new.updated_at, new.id, 'PAYMENT', new.amount_minor);
    end if;
    if refunded <> refunded_before then
      insert into money_movement (business_id, at, payment_id, type, amount_minor, origin)
      values (new.business_id, new.updated_at, new.id, 'REFUND', refunded_before - refunded, new.origin);
    end if;
    if new.status = 'CANCELED' and old.status in ('PAID', 'REFUNDED') then
      insert into money_movement (business_id, at, payment_id, type, amount_minor, origin)
      values (new.business_id, new.updated_at, new.id, 'REVERSAL', refunded - new.amount_minor, new.origin);
    end if;
    return null;
  end
$$;
create trigger record_money_movements after update of status, refunded_amount_minor on payment for each row
  when (old.status <> new.status or old.refunded_amount_minor is distinct from new.refunded_amount_minor)
  execute function record_money_movements();

-- Progress of the job that inserts the rows of earlier payments, which this migration would have to
-- read under its lock on payment. The job deletes the row when it has finished. A new database has
-- no earlier payments and no row.
create table money_movement_fill (
  only_row boolean primary key default true check (only_row),
  -- Rows from this time on may be from the trigger. A transaction that waited for the lock on payment
  -- can have an earlier time than the migration.
  began_at timestamptz(3) not null,
  after_id uuid not null
);
insert into money_movement_fill (began_at, after_id)
  select now() - interval '1 minute', '00000000-0000-0000-0000-000000000000' where exists (select from payment);
