alter table admin_key add column last_used_at timestamptz(3);
create index admin_key_newest on admin_key (created_at desc, id desc);
