-- A key is kept for 24 hours from the end of its execution. All versions count the 24 hours from created_at, so the end moves it.
-- Triggers do this, because an older version that runs during a rolling update ends executions too, and deletes old rows.
create function idempotency_key_ended() returns trigger language plpgsql as $$
  begin
    new.created_at := clock_timestamp();
    return new;
  end
$$;
create trigger idempotency_key_ended before update on idempotency_key for each row
  when (old.answer is null and old.refusal is null and (new.answer is not null or new.refusal is not null))
  execute function idempotency_key_ended();
-- An execution within one transaction is inserted with its end.
create trigger idempotency_key_inserted_ended before insert on idempotency_key for each row
  when (new.answer is not null or new.refusal is not null)
  execute function idempotency_key_ended();
