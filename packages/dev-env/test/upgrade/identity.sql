create table mikro_orm_migrations (id serial primary key, name varchar(255), executed_at timestamptz(6) default current_timestamp(6));

create table business (
  id uuid primary key,
  name text not null,
  status text not null check (status in ('PENDING', 'ACTIVE', 'DISABLED', 'REJECTED')),
  organization_id integer not null generated always as identity unique,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index business_newest on business (created_at desc, id desc);
create index business_newest_of_status on business (status, created_at desc, id desc);

create table api_key (
  id uuid primary key,
  business_id uuid not null references business (id),
  name text not null,
  prefix text not null,
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  replaced_by uuid,
  revoked_at timestamptz(3)
);
create index api_key_newest on api_key (business_id, created_at desc, id desc);

create table admin_key (
  id uuid primary key,
  name text not null,
  prefix text not null,
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);

create table audit_event (
  id uuid primary key,
  at timestamptz(3) not null,
  actor text not null,
  action text not null,
  entity_type text not null,
  entity_id uuid not null,
  business_id uuid,
  before jsonb,
  after jsonb,
  request_id text not null,
  address text not null,
  reason text
);
create index audit_event_of_business on audit_event (business_id, at desc, id desc);
create index audit_event_newest on audit_event (at desc, id desc);

create function audit_event_refuse_change() returns trigger language plpgsql as $$
        begin
          raise exception 'audit_event is append-only: % is refused', lower(tg_op);
        end
      $$;
create trigger audit_event_append_only before update or delete or truncate on audit_event
  for each statement execute function audit_event_refuse_change();
alter table audit_event enable always trigger audit_event_append_only;
do $$
        declare name text;
        begin
          -- Whoever may use this service's tables may add to the trail and read it, nothing more.
          for name in select distinct grantee from information_schema.role_table_grants where table_name = 'audit_event' loop
            execute format('revoke update, delete, truncate, references, trigger on audit_event from %s',
              case name when 'PUBLIC' then 'public' else quote_ident(name) end);
          end loop;
        end
      $$;

create table inbox (
  consumer text not null,
  event_id uuid not null,
  received_at timestamptz not null default now(),
  primary key (consumer, event_id)
);
create index inbox_received_at on inbox (received_at);

create table dead_letter (
  id uuid primary key default uuidv7(),
  position bigint generated always as identity,
  consumer text not null,
  topic text not null,
  key text not null,
  event_id uuid,
  event_type text not null,
  payload bytea not null,
  headers jsonb not null,
  status text not null check (status in ('RETRYING', 'WAITING', 'PARKED', 'FORGED', 'DELIVERED', 'DROPPED')),
  reason text not null,
  failure text not null default '',
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) check ((status in ('RETRYING', 'WAITING')) = (next_attempt_at is not null)),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index dead_letter_event on dead_letter (consumer, event_id) where status in ('RETRYING', 'WAITING', 'PARKED');
create index dead_letter_open on dead_letter (consumer, topic, key, position) where status in ('RETRYING', 'WAITING');
create index dead_letter_forged on dead_letter (consumer, topic) where status = 'FORGED';
create index dead_letter_created on dead_letter (created_at desc, id desc);

create table idempotency_key (
  id uuid primary key,
  scope text not null,
  route text not null,
  key text not null,
  fingerprint text not null,
  answer bytea,
  refusal bytea,
  created_at timestamptz(3) not null,
  unique (scope, route, key)
);
create index idempotency_key_created_at on idempotency_key (created_at);

insert into mikro_orm_migrations (id, name, executed_at) values
('1', '0001-initial', '2026-11-22 04:56:02.827571+00');

insert into business (id, name, status, organization_id, created_at, updated_at, version) overriding system value values
('01a2019c-95c0-758e-a445-92d385de580c', 'Boutique El Amana', 'ACTIVE', '1', '2026-11-22 04:56:08.896+00', '2026-11-22 04:56:08.896+00', '1'),
('01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'Librairie du Port', 'ACTIVE', '2', '2026-11-22 04:56:11.718+00', '2026-11-22 04:56:11.718+00', '1'),
('01a2019e-bdf3-771b-81c5-a4dc96b94fb7', 'Librairie du Port', 'ACTIVE', '3', '2026-11-22 04:58:30.259+00', '2026-11-22 04:58:30.259+00', '1');

insert into api_key (id, business_id, name, prefix, hash, created_at, last_used_at, expires_at, replaced_by, revoked_at) values
('01a2019c-95c7-7648-8caf-5d3a2dc807d2', '01a2019c-95c0-758e-a445-92d385de580c', 'default', 'sk_test_5akvo9Pd', E'\\x5c036877daed68cf6a02e73ca87f73e5905f73648d50742df71f72f221f18f31', '2026-11-22 04:56:08.896+00', '2026-11-22 05:01:41.728+00', NULL, NULL, NULL),
('01a2019c-a0ca-78f4-9f2e-8214e8b0d08d', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'default', 'sk_test_TaZsXWuI', E'\\x5833c1cd794f398041f7efbbd4352274ddd5617e687a2b67854f072af95c9cec', '2026-11-22 04:56:11.718+00', '2026-11-22 04:56:11.751+00', NULL, NULL, NULL),
('01a2019e-bdfc-7a84-8df8-96b8eefa1ba8', '01a2019e-bdf3-771b-81c5-a4dc96b94fb7', 'default', 'sk_test_woULToft', E'\\x67e0a11dedd4841a4e68231b1cc52380769fb3bc7edccd0f4babb8c5ae131414', '2026-11-22 04:58:30.259+00', NULL, NULL, NULL, NULL);

insert into admin_key (id, name, prefix, hash, created_at, revoked_at) values
('01a2019c-8f2b-7d32-b52f-cba81c14ab65', 'bootstrap', 'ak_Hx1TamH8R66u8', E'\\x573fac560e4c5f06202399561147527ba699de6a148a402766da8146fc73aa4a', '2026-11-22 04:56:07.076+00', NULL);

insert into audit_event (id, at, actor, action, entity_type, entity_id, business_id, before, after, request_id, address, reason) values
('01a2019c-8f34-7842-aa7f-90975346282e', '2026-11-22 04:56:07.076+00', 'platform', 'admin_key.created', 'admin_key', '01a2019c-8f2b-7d32-b52f-cba81c14ab65', NULL, NULL, '{"id": "01a2019c-8f2b-7d32-b52f-cba81c14ab65", "name": "bootstrap", "prefix": "ak_Hx1TamH8R66u8", "revoked_at": null}', '', '', NULL),
('01a2019c-95c8-7863-acf9-f55cbc0c8b44', '2026-11-22 04:56:08.896+00', 'ak_Hx1TamH8R66u8', 'business.created', 'business', '01a2019c-95c0-758e-a445-92d385de580c', '01a2019c-95c0-758e-a445-92d385de580c', NULL, '{"name": "Boutique El Amana", "status": "ACTIVE"}', '01a2019c-95b0-7d12-b085-663c74a4aef9', '127.0.0.1', NULL),
('01a2019c-95c8-7cd9-b478-5fd909e44c6a', '2026-11-22 04:56:08.896+00', 'ak_Hx1TamH8R66u8', 'api_key.created', 'api_key', '01a2019c-95c7-7648-8caf-5d3a2dc807d2', '01a2019c-95c0-758e-a445-92d385de580c', NULL, '{"id": "01a2019c-95c7-7648-8caf-5d3a2dc807d2", "name": "default", "prefix": "sk_test_5akvo9Pd", "expires_at": null, "revoked_at": null}', '01a2019c-95b0-7d12-b085-663c74a4aef9', '127.0.0.1', NULL),
('01a2019c-a0ca-721c-8e8b-b155f7b4a4fd', '2026-11-22 04:56:11.718+00', 'ak_Hx1TamH8R66u8', 'business.created', 'business', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', NULL, '{"name": "Librairie du Port", "status": "ACTIVE"}', '01a2019c-a0c0-7b55-924e-5fd87516b610', '127.0.0.1', NULL),
('01a2019c-a0cb-7478-9703-2df5a87b6091', '2026-11-22 04:56:11.718+00', 'ak_Hx1TamH8R66u8', 'api_key.created', 'api_key', '01a2019c-a0ca-78f4-9f2e-8214e8b0d08d', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', NULL, '{"id": "01a2019c-a0ca-78f4-9f2e-8214e8b0d08d", "name": "default", "prefix": "sk_test_TaZsXWuI", "expires_at": null, "revoked_at": null}', '01a2019c-a0c0-7b55-924e-5fd87516b610', '127.0.0.1', NULL),
('01a2019c-a62e-7834-8cdd-bb11e9c39c9a', '2026-11-22 04:56:13.099+00', 'ak_Hx1TamH8R66u8', 'kyc_application.reviewed', 'kyc_application', '01a2019c-a53e-7a97-9bb0-1ace3d5297f4', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '{"status": "COMPLETED", "verdict": "NEEDS_REVIEW"}', '{"status": "COMPLETED", "outcome": "APPROVED", "verdict": "APPROVED"}', '01a2019c-a614-73ea-8391-da39e348287e', '127.0.0.1', 'Same name as on a sanctions list, another date of birth.'),
('01a2019c-a84c-7158-91b6-46e37695364e', '2026-11-22 04:56:13.643+00', 'ak_Hx1TamH8R66u8', 'onboarding.approved', 'onboarding', '01a2019c-a67d-76d4-b073-1c03c2ed9117', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '{"client_id": "01a2019c-a67d-73f4-a0f8-212ace6be748", "current_step": "PENDING_APPROVAL"}', '{"client_id": "01a2019c-a67d-73f4-a0f8-212ace6be748", "current_step": "APPROVED"}', '01a2019c-a83d-7b71-adb3-0bae924e1883', '127.0.0.1', NULL),
('01a2019e-bdfd-7dac-a79b-ec2401c7e732', '2026-11-22 04:58:30.259+00', 'ak_Hx1TamH8R66u8', 'business.created', 'business', '01a2019e-bdf3-771b-81c5-a4dc96b94fb7', '01a2019e-bdf3-771b-81c5-a4dc96b94fb7', NULL, '{"name": "Librairie du Port", "status": "ACTIVE"}', '01a2019e-bde7-74cc-aea2-a2f9a4893c5d', '127.0.0.1', NULL),
('01a2019e-bdfe-7f48-9fe3-4011bcbc6741', '2026-11-22 04:58:30.259+00', 'ak_Hx1TamH8R66u8', 'api_key.created', 'api_key', '01a2019e-bdfc-7a84-8df8-96b8eefa1ba8', '01a2019e-bdf3-771b-81c5-a4dc96b94fb7', NULL, '{"id": "01a2019e-bdfc-7a84-8df8-96b8eefa1ba8", "name": "default", "prefix": "sk_test_woULToft", "expires_at": null, "revoked_at": null}', '01a2019e-bde7-74cc-aea2-a2f9a4893c5d', '127.0.0.1', NULL);

insert into inbox (consumer, event_id, received_at) values
('identity', '01a2019c-a62e-7834-8cdd-bb11e9c39c9a', '2026-11-22 04:56:13.13869+00'),
('identity', '01a2019c-a84c-7158-91b6-46e37695364e', '2026-11-22 04:56:13.685265+00');

insert into dead_letter (id, position, consumer, topic, key, event_id, event_type, payload, headers, status, reason, failure, attempts, next_attempt_at, created_at, updated_at) overriding system value values
('01a201a0-08d3-7f75-80f4-618774c6a014', '1', 'identity', 'audit.v1', '01a2019e-84bd-711f-8bce-96b35c048b7b', '01a2019f-f0f7-7512-ac35-63b9bbec3774', 'identity.v1.ActionRecorded', E'\\x0a07616b5f487831541213646561645f6c65747465722e64726f707065641a0b646561645f6c6574746572222430316132303139652d383462642d373131662d386263652d3936623335633034386237622a2430316132303139632d393563302d373538652d613434352d39326433383564653538306332003a00422430316132303139662d663066372d376633342d613062332d6464346461373665383233614a093132372e302e302e31520961736b656420666f72', '{"ce_id": "01a2019f-f0f7-7512-ac35-63b9bbec3774", "ce_time": "2026-11-22T04:59:48.856Z", "ce_type": "identity.v1.ActionRecorded", "ce_source": "webhooks", "content-type": "application/protobuf", "ce_specversion": "1.0"}', 'RETRYING', 'DriverException: canceling statement due to lock timeout', 'DriverException: canceling statement due to lock timeout', '6', '2026-11-22 05:01:58.451+00', '2026-11-22 04:59:54.962+00', '2026-11-22 05:00:58.451+00'),
('01a201a0-7df7-7e0a-bb40-6a34f228300d', '2', 'identity', 'audit.v1', '01a2019e-84bd-711f-8bce-96b35c048b7b', '01a201a0-7dd8-76b8-9e74-386670255850', 'identity.v1.ActionRecorded', E'\\x0a07616b5f487831541213646561645f6c65747465722e64726f707065641a0b646561645f6c6574746572222430316132303139652d383462642d373131662d386263652d3936623335633034386237622a2430316132303139632d393563302d373538652d613434352d39326433383564653538306332003a00422430316132303161302d376464382d373362312d386230302d3536656262313436373036334a093132372e302e302e31520961736b656420666f72', '{"ce_id": "01a201a0-7dd8-76b8-9e74-386670255850", "ce_time": "2026-11-22T05:00:24.921Z", "ce_type": "identity.v1.ActionRecorded", "ce_source": "webhooks", "content-type": "application/protobuf", "ce_specversion": "1.0"}', 'WAITING', 'It waits behind an earlier event of its key.', '', '0', '2026-11-22 05:00:24.948+00', '2026-11-22 05:00:24.948+00', '2026-11-22 05:00:24.948+00');

insert into idempotency_key (id, scope, route, key, fingerprint, answer, refusal, created_at) values
('01a2019e-bdf2-79bb-b7a2-f8f7070986b0', '01a2019c-8f2b-7d32-b52f-cba81c14ab65', 'POST /api/v1/businesses', 'business-1', '391cd191a758103f7bc395d00d6f65b8d380c5c4c15fc60fa38c2e9c26e52aec', E'\\x0a2430316132303139652d626466332d373731622d383163352d61346463393662393466623712114c696272616972696520647520506f7274180220f3fbfa8ca03428f3fbfa8ca03430033a10736b5f746573745f776f554c546f6674', NULL, '2026-11-22 04:58:30.258+00');

select setval('business_organization_id_seq', 3);

select setval('dead_letter_position_seq', 2);

select setval('mikro_orm_migrations_id_seq', 1);
