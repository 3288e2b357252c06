-- Who did it: the key's id, and its name as it was then. A replica of the version before writes neither.
alter table audit_event add column actor_key_id uuid;
alter table audit_event add column actor_name text;

create function audit_event_name_actor() returns trigger language plpgsql as $$
  begin
    new.actor_name := coalesce(
      (select name from admin_key where id = new.actor_key_id),
      (select name from api_key where id = new.actor_key_id),
      (select name from invitation where id = new.actor_key_id));
    return new;
  end
$$;
-- The owner took this right from itself (0001).
grant trigger on audit_event to current_user;
create trigger audit_event_name_actor before insert on audit_event
  for each row when (new.actor_key_id is not null) execute function audit_event_name_actor();
alter table audit_event enable always trigger audit_event_name_actor;
do $$
  begin
    execute format('revoke trigger on audit_event from %I', current_user);
  end
$$;

-- What operators look for. On a long trail each partition gets them before, create index concurrently.
create index if not exists audit_event_of_action on audit_event (action, at desc, id desc);
create index if not exists audit_event_of_entity on audit_event (entity_id, at desc, id desc);
