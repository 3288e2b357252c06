-- Only what a link holds leaves the queue: a row that is taken out of it before would never be sealed.
-- Tables are named with their schema, because a session's temporary table of that name comes first.
create function audit_unsealed_refuse_change() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' and exists (select from public.audit_link where event_id = old.event_id) then return old; end if;
    raise exception 'a row of the audit trail that is not sealed stays in the queue: % is refused', lower(tg_op);
  end
$$;
create trigger keep_row before update or delete on audit_unsealed
  for each row execute function audit_unsealed_refuse_change();
alter table audit_unsealed enable always trigger keep_row;
create trigger append_only before truncate on audit_unsealed
  for each statement execute function audit_refuse_change();
alter table audit_unsealed enable always trigger append_only;

create or replace function audit_event_queue() returns trigger language plpgsql as $$
  begin
    insert into public.audit_unsealed (event_id) values (new.id);
    return null;
  end
$$;
