create table mikro_orm_migrations (id serial primary key, name varchar(255), executed_at timestamptz(6) default current_timestamp(6));

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

create table outbox (
  id bigint generated always as identity primary key,
  topic text not null,
  key text not null,
  payload bytea not null,
  headers jsonb not null,
  created_at timestamptz not null default now()
);
create function outbox_notify() returns trigger language plpgsql as $$
    begin
      perform pg_notify('outbox', '');
      return null;
    end
  $$;
create trigger outbox_notify after insert on outbox for each statement execute function outbox_notify();

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

create table webhook_endpoint (
  id uuid primary key,
  business_id uuid not null,
  url text not null,
  status text not null check (status in ('ACTIVE', 'DISABLED')),
  events text[] not null,
  secret_ciphertext text not null,
  previous_secret_ciphertext text,
  previous_secret_until timestamptz(3),
  failing_since timestamptz(3),
  slow boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index webhook_endpoint_business_created on webhook_endpoint (business_id, created_at desc, id desc);

create table event (
  id uuid primary key,
  business_id uuid not null,
  type text not null,
  body text not null,
  created_at timestamptz(3) not null
);
create index event_business_created on event (business_id, created_at desc, id desc);
create index event_business_type_created on event (business_id, type, created_at desc, id desc);
create index event_created on event (created_at);

create table delivery (
  id uuid primary key,
  business_id uuid not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  status text not null check (status in ('PENDING', 'SUCCEEDED', 'FAILED', 'SKIPPED')),
  attempts integer not null default 0,
  next_attempt_at timestamptz(3) check ((status = 'PENDING') = (next_attempt_at is not null)),
  lease_token uuid,
  leased_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  unique (event_id, endpoint_id)
);
create index delivery_business_event on delivery (business_id, event_id);
create index delivery_due on delivery (business_id, endpoint_id, greatest(next_attempt_at, leased_until))
  where status = 'PENDING';

create table delivery_attempt (
  id bigint generated always as identity,
  delivery_id uuid not null,
  business_id uuid not null,
  at timestamptz(3) not null,
  status_code integer,
  error text,
  duration_ms integer not null,
  response text,
  primary key (delivery_id, id)
);

insert into mikro_orm_migrations (id, name, executed_at) values
('1', '0001-initial', '2026-11-22 04:56:02.529929+00');

insert into inbox (consumer, event_id, received_at) values
('webhooks', '01a2019c-a191-78a3-8eae-64ff0581ce80', '2026-11-22 04:56:11.952058+00'),
('webhooks', '01a2019c-a260-77e7-be76-ed20b28bcea1', '2026-11-22 04:56:12.16644+00'),
('webhooks', '01a2019c-a306-7043-b66b-714aa64dc04a', '2026-11-22 04:56:12.37899+00'),
('webhooks', '01a2019c-a3e4-7096-95bd-6f1ffd5eaa4c', '2026-11-22 04:56:12.559932+00'),
('webhooks', '01a2019c-a479-7a8e-be0a-02c150228616', '2026-11-22 04:56:12.704808+00'),
('webhooks', '01a2019c-a4e5-739a-b3b8-124f94e099f0', '2026-11-22 04:56:12.80216+00'),
('webhooks', '01a2019c-a54e-7f38-b121-7b7cc1452a52', '2026-11-22 04:56:12.930102+00'),
('webhooks', '01a2019c-a58b-7bc2-9a97-a2786a48bdb3', '2026-11-22 04:56:13.032492+00'),
('webhooks', '01a2019c-a62d-7936-9a11-e71060cdf5f5', '2026-11-22 04:56:13.121028+00'),
('webhooks', '01a2019c-a766-7064-94ae-f1c480f202ce', '2026-11-22 04:56:13.427044+00'),
('webhooks', '01a2019c-a7dd-72de-8742-d4382957e590', '2026-11-22 04:56:13.554284+00'),
('webhooks', '01a2019e-843c-732d-bab5-8ee25bebb4a6', '2026-11-22 04:58:15.494539+00'),
('webhooks', '01a2019e-8473-7daa-b369-73824956e44f', '2026-11-22 04:58:15.552553+00'),
('webhooks', '01a2019e-8495-75ec-8972-9a2f6c23a243', '2026-11-22 04:58:15.587953+00');

insert into dead_letter (id, position, consumer, topic, key, event_id, event_type, payload, headers, status, reason, failure, attempts, next_attempt_at, created_at, updated_at) overriding system value values
('01a2019e-d4e5-7879-8df1-3665fe754f61', '1', 'webhooks', 'payments.v1', '01a2019e-bcf0-78c8-af50-72c1d040612c', '01a2019e-bd54-764a-bb4e-5f26ccad8dd1', 'payments.v1.PaymentCompleted', E'\\x080112f5020a2430316132303139652d626366302d373863382d616635302d373263316430343036313263122430316132303139632d393563302d373538652d613434352d39326433383564653538306318de4d2203445a442802320246523a1768747470733a2f2f73686f702e6578616d706c652f6f6b421768747470733a2f2f73686f702e6578616d706c652f6e6f4a0a3236343137323539343150f0f9fa8ca03458d3fafa8ca03460d3fafa8ca0346a01307220566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92e7a06303230393230820103434942920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f59774d39425762356566753941735533736733349a010c3632383035382a2a37323135a201076f726465722d32aa01023030b20120566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92ec2011459774d3942576235656675394173553373673334c80102', '{"ce_id": "01a2019e-bd54-764a-bb4e-5f26ccad8dd1", "ce_time": "2026-11-22T04:58:30.099Z", "ce_type": "payments.v1.PaymentCompleted", "ce_source": "payments", "traceparent": "00-e9aa6dfb3cd81e0cf412eaa8a4a29a08-8625f5fd5775a4f1-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', 'RETRYING', 'DriverException: canceling statement due to lock timeout', 'DriverException: canceling statement due to lock timeout', '7', '2026-11-22 05:01:42.886+00', '2026-11-22 04:58:36.131+00', '2026-11-22 05:00:42.886+00'),
('01a2019e-d502-769b-9824-229a8fc0e3bb', '2', 'webhooks', 'kyc.v1', '01a2019e-bd6e-7890-a866-fc3d26cbde89', '01a2019e-bd75-7be4-82e1-6c6e82d2a5d8', 'kyc.v1.KycCreated', E'\\x080a12760a2430316132303139652d626436652d373839302d613836362d666333643236636264653839122430316132303139632d393563302d373538652d613434352d39326433383564653538306318f4fafa8ca03428f0a2c788a134300138f4fafa8ca03442027b7d6003720b6170706c6963616e742d321801', '{"ce_id": "01a2019e-bd75-7be4-82e1-6c6e82d2a5d8", "ce_time": "2026-11-22T04:58:30.132Z", "ce_type": "kyc.v1.KycCreated", "ce_source": "kyc", "traceparent": "00-23d33e348a4a655cae5c0a9535d07c7d-47bee7ba14ba473f-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', 'RETRYING', 'DriverException: canceling statement due to lock timeout', 'DriverException: canceling statement due to lock timeout', '7', '2026-11-22 05:01:43.315+00', '2026-11-22 04:58:36.161+00', '2026-11-22 05:00:43.315+00'),
('01a2019e-d534-77dc-95e3-27d0bac90020', '3', 'webhooks', 'kyc.v1', '01a2019e-bd6e-7890-a866-fc3d26cbde89', '01a2019e-bda8-7187-a297-151334fb770d', 'kyc.v1.KycCanceled', E'\\x080712760a2430316132303139652d626436652d373839302d613836362d666333643236636264653839122430316132303139632d393563302d373538652d613434352d39326433383564653538306318f4fafa8ca03428f0a2c788a134300738a5fbfa8ca03442027b7d6003720b6170706c6963616e742d321802', '{"ce_id": "01a2019e-bda8-7187-a297-151334fb770d", "ce_time": "2026-11-22T04:58:30.181Z", "ce_type": "kyc.v1.KycCanceled", "ce_source": "kyc", "traceparent": "00-23d33e348a4a655cae5c0a9535d07c7d-47bee7ba14ba473f-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', 'WAITING', 'It waits behind an earlier event of its key.', '', '0', '2026-11-22 04:58:36.205+00', '2026-11-22 04:58:36.205+00', '2026-11-22 04:58:36.205+00');

insert into outbox (id, topic, key, payload, headers, created_at) overriding system value values
('3', 'audit.v1', '01a2019e-84bd-711f-8bce-96b35c048b7b', E'\\x0a07616b5f487831541213646561645f6c65747465722e64726f707065641a0b646561645f6c6574746572222430316132303139652d383462642d373131662d386263652d3936623335633034386237622a2430316132303139632d393563302d373538652d613434352d39326433383564653538306332003a00422430316132303161312d616334662d376461342d386535352d6435306134353933663931384a093132372e302e302e31520961736b656420666f72', '{"ce_id": "01a201a1-ac4f-7268-977f-c3b03b41aa2f", "ce_time": "2026-11-22T05:01:42.353Z", "ce_type": "identity.v1.ActionRecorded", "ce_source": "webhooks", "content-type": "application/protobuf", "ce_specversion": "1.0"}', '2026-11-22 05:01:42.354239+00');

insert into idempotency_key (id, scope, route, key, fingerprint, answer, refusal, created_at) values
('01a2019e-83da-7eed-a07d-e60aaf782fd9', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/webhook-endpoints', 'endpoint-1', 'c51985e53a9e29c790951edf2ce6fe2a7a617f407c5a824f9074f550cd7fcb42', E'\\x0a2430316132303139652d383364642d376337652d623533332d363864626338353236333830122430316132303139632d393563302d373538652d613434352d3932643338356465353830631a18687474703a2f2f3132372e302e302e313a392f686f6f6b73200128dd87fa8ca03430dd87fa8ca034', NULL, '2026-11-22 04:58:15.386+00');

insert into webhook_endpoint (id, business_id, url, status, events, secret_ciphertext, previous_secret_ciphertext, previous_secret_until, failing_since, slow, created_at, updated_at, version) values
('01a2019c-a0f9-7312-9334-f4f9976ebd46', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'http://127.0.0.1:39603/amana', 'ACTIVE', '{}', 'dev:nnJPJlzYCtrbIl6hFFh+NgfjrJ1gFu0EhlZRvRhkmEJ6fIX0TwBLdnFQwmDwiHztM1HOQDm/HW9d+vyqMJXzB4M92F1/tG1q0px0rYZ1', NULL, NULL, NULL, false, '2026-11-22 04:56:11.769+00', '2026-11-22 04:56:11.769+00', '1'),
('01a2019e-83dd-7c7e-b533-68dbc8526380', '01a2019c-95c0-758e-a445-92d385de580c', 'http://127.0.0.1:9/hooks', 'ACTIVE', '{}', 'dev:DRK7c/6EJITjyAnuQgzNT7BlOmVukxJrVm6ytf3504Mjedo8AGuSXko9vIhtEWZoNV0K2FBBSZL4MTVxpYmv/eLFjUO1dx0BlvQGTxe8', NULL, NULL, '2026-11-22 04:58:15.506+00', false, '2026-11-22 04:58:15.389+00', '2026-11-22 04:58:15.389+00', '2');

insert into event (id, business_id, type, body, created_at) values
('01a2019c-a191-78a3-8eae-64ff0581ce80', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'PAYMENT_COMPLETED', '{"id":"01a2019c-a191-78a3-8eae-64ff0581ce80","event":"PAYMENT_COMPLETED","occurred_at":"2026-11-22T04:56:11.919Z","business_id":"01a2019c-a0c6-7e57-9a6d-0dff47d280dc","payment_id":"01a2019c-a12b-717f-9298-e4de12f42398","order_ref":"commande-1","processor_order_id":"ZxDbg64I5tYu0XpZYamg","status":"PAID","amount":"5000.00","currency":"DZD"}', '2026-11-22 04:56:11.919+00'),
('01a2019c-a260-77e7-be76-ed20b28bcea1', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'PAYMENT_REFUNDED', '{"id":"01a2019c-a260-77e7-be76-ed20b28bcea1","event":"PAYMENT_REFUNDED","occurred_at":"2026-11-22T04:56:12.127Z","business_id":"01a2019c-a0c6-7e57-9a6d-0dff47d280dc","payment_id":"01a2019c-a12b-717f-9298-e4de12f42398","order_ref":"commande-1","processor_order_id":"ZxDbg64I5tYu0XpZYamg","status":"REFUNDED","amount":"5000.00","currency":"DZD","refunded_amount":"5000.00"}', '2026-11-22 04:56:12.127+00'),
('01a2019c-a3e4-7096-95bd-6f1ffd5eaa4c', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'KYC_COMPLETED', '{"id":"01a2019c-a3e4-7096-95bd-6f1ffd5eaa4c","event":"KYC_COMPLETED","occurred_at":"2026-11-22T04:56:12.512Z","business_id":"01a2019c-a0c6-7e57-9a6d-0dff47d280dc","application_id":"01a2019c-a2b9-775b-9a95-f5c95f96afb6","external_id":"applicant-1","metadata":{"cart":7,"vip":true},"status":"COMPLETED","verdict":"APPROVED","reason_codes":[],"document_expiry":"2031-06-30","aml_hit_count":0}', '2026-11-22 04:56:12.512+00'),
('01a2019c-a4e5-739a-b3b8-124f94e099f0', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'KYC_REJECTED', '{"id":"01a2019c-a4e5-739a-b3b8-124f94e099f0","event":"KYC_REJECTED","occurred_at":"2026-11-22T04:56:12.772Z","business_id":"01a2019c-a0c6-7e57-9a6d-0dff47d280dc","application_id":"01a2019c-a455-703b-85fc-189d0e94485d","external_id":"applicant-2","metadata":{},"status":"COMPLETED","verdict":"REJECTED","reason_codes":[{"code":"DOCUMENT_EXPIRED","message":"The document has expired."}],"document_expiry":"2020-01-31","aml_hit_count":0}', '2026-11-22 04:56:12.772+00'),
('01a2019c-a58b-7bc2-9a97-a2786a48bdb3', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'KYC_NEEDS_REVIEW', '{"id":"01a2019c-a58b-7bc2-9a97-a2786a48bdb3","event":"KYC_NEEDS_REVIEW","occurred_at":"2026-11-22T04:56:12.934Z","business_id":"01a2019c-a0c6-7e57-9a6d-0dff47d280dc","application_id":"01a2019c-a53e-7a97-9bb0-1ace3d5297f4","external_id":"applicant-3","metadata":{},"status":"COMPLETED","verdict":"NEEDS_REVIEW","reason_codes":[{"code":"AML_MATCH","message":"There are hits in a sanctions or watch list."}],"document_expiry":"2031-06-30","aml_hit_count":1}', '2026-11-22 04:56:12.934+00'),
('01a2019c-a62d-7936-9a11-e71060cdf5f5', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'KYC_REVIEW_RESOLVED', '{"id":"01a2019c-a62d-7936-9a11-e71060cdf5f5","event":"KYC_REVIEW_RESOLVED","occurred_at":"2026-11-22T04:56:13.099Z","business_id":"01a2019c-a0c6-7e57-9a6d-0dff47d280dc","application_id":"01a2019c-a53e-7a97-9bb0-1ace3d5297f4","external_id":"applicant-3","metadata":{},"status":"COMPLETED","verdict":"APPROVED","reason_codes":[{"code":"AML_MATCH","message":"There are hits in a sanctions or watch list."}],"document_expiry":"2031-06-30","aml_hit_count":1}', '2026-11-22 04:56:13.099+00'),
('01a2019c-a7dd-72de-8742-d4382957e590', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'KYC_COMPLETED', '{"id":"01a2019c-a7dd-72de-8742-d4382957e590","event":"KYC_COMPLETED","occurred_at":"2026-11-22T04:56:13.532Z","business_id":"01a2019c-a0c6-7e57-9a6d-0dff47d280dc","application_id":"01a2019c-a755-7282-b880-797bdb6807a8","client_id":"01a2019c-a67d-73f4-a0f8-212ace6be748","metadata":{},"status":"COMPLETED","verdict":"APPROVED","reason_codes":[],"document_expiry":"2031-06-30","aml_hit_count":0}', '2026-11-22 04:56:13.532+00'),
('01a2019e-843c-732d-bab5-8ee25bebb4a6', '01a2019c-95c0-758e-a445-92d385de580c', 'PAYMENT_COMPLETED', '{"id":"01a2019e-843c-732d-bab5-8ee25bebb4a6","event":"PAYMENT_COMPLETED","occurred_at":"2026-11-22T04:58:15.483Z","business_id":"01a2019c-95c0-758e-a445-92d385de580c","payment_id":"01a2019e-83f4-7011-8641-dc928873f885","order_ref":"order-1","processor_order_id":"kBZ7IEoT3CRvcaRaME9v","status":"PAID","amount":"1250.00","currency":"DZD"}', '2026-11-22 04:58:15.483+00'),
('01a2019e-8473-7daa-b369-73824956e44f', '01a2019c-95c0-758e-a445-92d385de580c', 'PAYMENT_REFUNDED', '{"id":"01a2019e-8473-7daa-b369-73824956e44f","event":"PAYMENT_REFUNDED","occurred_at":"2026-11-22T04:58:15.539Z","business_id":"01a2019c-95c0-758e-a445-92d385de580c","payment_id":"01a2019e-83f4-7011-8641-dc928873f885","order_ref":"order-1","processor_order_id":"kBZ7IEoT3CRvcaRaME9v","status":"REFUNDED","amount":"1250.00","currency":"DZD","refunded_amount":"1250.00"}', '2026-11-22 04:58:15.539+00');

insert into delivery (id, business_id, event_id, endpoint_id, status, attempts, next_attempt_at, lease_token, leased_until, created_at) values
('01a2019c-a1c4-7537-89ee-0326fdc9118f', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a191-78a3-8eae-64ff0581ce80', '01a2019c-a0f9-7312-9334-f4f9976ebd46', 'SUCCEEDED', '1', NULL, NULL, NULL, '2026-11-22 04:56:11.952+00'),
('01a2019c-a297-7d8f-ada3-0bf7de42439d', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a260-77e7-be76-ed20b28bcea1', '01a2019c-a0f9-7312-9334-f4f9976ebd46', 'SUCCEEDED', '1', NULL, NULL, NULL, '2026-11-22 04:56:12.166+00'),
('01a2019c-a41c-773f-82ca-ee935f4443a1', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a3e4-7096-95bd-6f1ffd5eaa4c', '01a2019c-a0f9-7312-9334-f4f9976ebd46', 'SUCCEEDED', '1', NULL, NULL, NULL, '2026-11-22 04:56:12.56+00'),
('01a2019c-a514-76e1-8d3d-351e26fe39c0', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a4e5-739a-b3b8-124f94e099f0', '01a2019c-a0f9-7312-9334-f4f9976ebd46', 'SUCCEEDED', '1', NULL, NULL, NULL, '2026-11-22 04:56:12.802+00'),
('01a2019c-a5f2-7f5d-9fb9-0b9a236a7455', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a58b-7bc2-9a97-a2786a48bdb3', '01a2019c-a0f9-7312-9334-f4f9976ebd46', 'SUCCEEDED', '1', NULL, NULL, NULL, '2026-11-22 04:56:13.032+00'),
('01a2019c-a658-741a-8f9f-77a9687048a1', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a62d-7936-9a11-e71060cdf5f5', '01a2019c-a0f9-7312-9334-f4f9976ebd46', 'SUCCEEDED', '1', NULL, NULL, NULL, '2026-11-22 04:56:13.121+00'),
('01a2019c-a7f6-76e4-a97b-9d90ab3e352c', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a7dd-72de-8742-d4382957e590', '01a2019c-a0f9-7312-9334-f4f9976ebd46', 'SUCCEEDED', '1', NULL, NULL, NULL, '2026-11-22 04:56:13.554+00'),
('01a2019e-844b-7c82-b0f2-832f473cf3b5', '01a2019c-95c0-758e-a445-92d385de580c', '01a2019e-843c-732d-bab5-8ee25bebb4a6', '01a2019e-83dd-7c7e-b533-68dbc8526380', 'PENDING', '3', '2026-11-22 05:10:43.475+00', NULL, NULL, '2026-11-22 04:58:15.495+00'),
('01a2019e-8488-776b-8abc-dc0bf095d2b6', '01a2019c-95c0-758e-a445-92d385de580c', '01a2019e-8473-7daa-b369-73824956e44f', '01a2019e-83dd-7c7e-b533-68dbc8526380', 'PENDING', '3', '2026-11-22 05:10:46.4+00', NULL, NULL, '2026-11-22 04:58:15.553+00');

insert into delivery_attempt (id, delivery_id, business_id, at, status_code, error, duration_ms, response) overriding system value values
('1', '01a2019c-a1c4-7537-89ee-0326fdc9118f', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '2026-11-22 04:56:11.995+00', '204', NULL, '39', ''),
('10', '01a2019e-844b-7c82-b0f2-832f473cf3b5', '01a2019c-95c0-758e-a445-92d385de580c', '2026-11-22 04:58:45.626+00', NULL, 'the connection was refused', '4', NULL),
('11', '01a2019e-8488-776b-8abc-dc0bf095d2b6', '01a2019c-95c0-758e-a445-92d385de580c', '2026-11-22 04:58:47.326+00', NULL, 'the connection was refused', '3', NULL),
('12', '01a2019e-8488-776b-8abc-dc0bf095d2b6', '01a2019c-95c0-758e-a445-92d385de580c', '2026-11-22 05:00:31.711+00', NULL, 'the connection was refused', '6', NULL),
('13', '01a2019e-844b-7c82-b0f2-832f473cf3b5', '01a2019c-95c0-758e-a445-92d385de580c', '2026-11-22 05:01:02.101+00', NULL, 'the connection was refused', '1', NULL),
('2', '01a2019c-a297-7d8f-ada3-0bf7de42439d', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '2026-11-22 04:56:12.191+00', '204', NULL, '4', ''),
('3', '01a2019c-a41c-773f-82ca-ee935f4443a1', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '2026-11-22 04:56:12.596+00', '204', NULL, '15', ''),
('4', '01a2019c-a514-76e1-8d3d-351e26fe39c0', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '2026-11-22 04:56:12.836+00', '204', NULL, '28', ''),
('5', '01a2019c-a5f2-7f5d-9fb9-0b9a236a7455', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '2026-11-22 04:56:13.065+00', '204', NULL, '17', ''),
('6', '01a2019c-a658-741a-8f9f-77a9687048a1', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '2026-11-22 04:56:13.154+00', '204', NULL, '19', ''),
('7', '01a2019c-a7f6-76e4-a97b-9d90ab3e352c', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '2026-11-22 04:56:13.57+00', '204', NULL, '2', ''),
('8', '01a2019e-844b-7c82-b0f2-832f473cf3b5', '01a2019c-95c0-758e-a445-92d385de580c', '2026-11-22 04:58:15.502+00', NULL, 'the connection was refused', '2', NULL),
('9', '01a2019e-8488-776b-8abc-dc0bf095d2b6', '01a2019c-95c0-758e-a445-92d385de580c', '2026-11-22 04:58:15.573+00', NULL, 'the connection was refused', '6', NULL);

select setval('dead_letter_position_seq', 3);

select setval('delivery_attempt_id_seq', 13);

select setval('mikro_orm_migrations_id_seq', 1);

select setval('outbox_id_seq', 3);
