-- Retention drops event_earlier and delivery_attempt_earlier when all of their rows are old. On such a
-- database the next migration in the order of names, 0014-tenants-of-earlier-rows, fails: it names
-- both tables, and its text is frozen. Empty tables of these names let it run. 0015 drops them.
do $$
  begin
    if exists (select from mikro_orm_migrations where name = '0014-tenants-of-earlier-rows') then return; end if;
    create table if not exists event_earlier (business_id uuid);
    create table if not exists delivery_attempt_earlier (business_id uuid);
  end
$$;
