create table invitation (
  id uuid primary key,
  name text not null,
  prefix text not null,
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  revoked_at timestamptz(3),
  business_id uuid references business (id)
);
create index invitation_newest on invitation (created_at desc, id desc);

-- Of a business that registered itself.
alter table business add column contact_email text;
