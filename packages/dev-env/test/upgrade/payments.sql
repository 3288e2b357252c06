create table mikro_orm_migrations (id serial primary key, name varchar(255), executed_at timestamptz(6) default current_timestamp(6));

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

create table payment (
  id uuid primary key,
  business_id uuid not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  status text not null,
  language text not null,
  success_url text not null,
  fail_url text not null,
  description text,
  order_ref text,
  return_token text not null unique,
  processor_order_number text not null unique check (processor_order_number ~ '^[0-9]{10}$'),
  processor_order_id text unique,
  form_url text,
  processor_error_code text,
  processor_order_status integer,
  action_code text,
  action_code_description text,
  resp_code text,
  resp_code_desc text,
  approval_code text,
  masked_pan text,
  card_brand text,
  refunded_amount_minor bigint check (refunded_amount_minor > 0 and refunded_amount_minor <= amount_minor),
  idempotency_id uuid,
  traceparent text,
  checked_at timestamptz(3),
  checks integer not null default 0,
  next_check_at timestamptz(3),
  leased_until timestamptz(3),
  lease_token uuid,
  paid_at timestamptz(3),
  origin text,
  refund_ended_at timestamptz(3),
  next_reread_at timestamptz(3),
  processor_refunded_minor bigint,
  processor_read_at timestamptz(3),
  difference text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index payment_business_created on payment (business_id, created_at desc, id desc);
create index payment_business_status on payment (business_id, status, created_at desc, id desc);
create index payment_business_order_ref on payment (business_id, order_ref) where order_ref is not null;
-- In the order in which the reconciler takes them: those known to be paid first, then the oldest.
create index payment_due on payment (business_id, (processor_order_status is distinct from 2), created_at)
  include (next_check_at) where next_check_at is not null;
create index payment_reread_due on payment (business_id, next_reread_at) where next_reread_at is not null;
create index payment_changed_elsewhere on payment (created_at desc, id desc) where origin is not null or difference is not null;

create table refund (
  id uuid primary key,
  business_id uuid not null,
  payment_id uuid not null references payment (id),
  amount_minor bigint not null check (amount_minor > 0),
  status text not null,
  refunded_before_minor bigint,
  processor_error_code text,
  sends integer not null default 0,
  last_sent_at timestamptz(3),
  resend_after timestamptz(3),
  decision_due_at timestamptz(3) not null,
  needs_decision_since timestamptz(3),
  decision_reason text,
  resolution text,
  processor_refunded_minor bigint,
  processor_order_status integer,
  processor_read_at timestamptz(3),
  checks integer not null default 0,
  next_check_at timestamptz(3),
  leased_until timestamptz(3),
  lease_token uuid,
  idempotency_id uuid,
  traceparent text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index refund_business_payment on refund (business_id, payment_id);
-- At most one refund of a payment is under way: the second wall behind the payment's row lock.
create unique index refund_one_active on refund (payment_id) where status in ('REQUESTED', 'SENT', 'UNKNOWN');
create index refund_due on refund (business_id, next_check_at) where next_check_at is not null;
create index refund_created on refund (created_at desc, id desc);
create index refund_needs_decision on refund (created_at desc, id desc) where needs_decision_since is not null;

insert into mikro_orm_migrations (id, name, executed_at) values
('1', '0001-initial', '2026-11-22 04:56:02.789382+00');

insert into outbox (id, topic, key, payload, headers, created_at) overriding system value values
('6', 'payments.v1', '01a201a1-a9e8-78b7-90c4-314fb5ddd852', E'\\x080112f5020a2430316132303161312d613965382d373862372d393063342d333134666235646464383532122430316132303139632d393563302d373538652d613434352d39326433383564653538306318de4d2203445a442802320246523a1768747470733a2f2f73686f702e6578616d706c652f6f6b421768747470733a2f2f73686f702e6578616d706c652f6e6f4a0a3735313730333639313750e8d3868da03458abd4868da03460abd4868da0346a01307220566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92e7a06373034313330820103434942920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f66354776764c6a335435547935436e3647684b589a010c3632383035382a2a37323135a201076f726465722d35aa01023030b20120566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92ec2011466354776764c6a335435547935436e3647684b58c80102', '{"ce_id": "01a201a1-aa2c-7a0a-9638-d4a1e2e1a691", "ce_time": "2026-11-22T05:01:41.803Z", "ce_type": "payments.v1.PaymentCompleted", "ce_source": "payments", "traceparent": "00-433c4a3d17e9fba95adf78cfe50a1e50-fed4675c4caf96cf-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', '2026-11-22 05:01:41.802232+00'),
('7', 'payments.v1', '01a201a1-aab1-7ecc-946c-24520133b734', E'\\x080112f5020a2430316132303161312d616162312d376563632d393436632d323435323031333362373334122430316132303139632d393563302d373538652d613434352d39326433383564653538306318de4d2203445a442802320246523a1768747470733a2f2f73686f702e6578616d706c652f6f6b421768747470733a2f2f73686f702e6578616d706c652f6e6f4a0a3931373833373634363750b1d5868da03458eed5868da03460eed5868da0346a01307220566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92e7a06343330333734820103434942920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f38416575746d30317250487441595441496c306b9a010c3632383035382a2a37323135a201076f726465722d36aa01023030b20120566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92ec2011438416575746d30317250487441595441496c306bc80102', '{"ce_id": "01a201a1-aaee-78e3-b8ec-758ee4573a81", "ce_time": "2026-11-22T05:01:41.998Z", "ce_type": "payments.v1.PaymentCompleted", "ce_source": "payments", "traceparent": "00-56730108ee3d0eb6733685b21451f4b6-72dffb3cc2e7e20a-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', '2026-11-22 05:01:41.996609+00');

insert into idempotency_key (id, scope, route, key, fingerprint, answer, refusal, created_at) values
('01a2019c-a127-7125-9ea4-23dce2afc145', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'POST /api/v1/payments', 'demo-create-1795323371789', 'fc06fac18b6eef55d36faa8545f5e8e7fedf0f3d6e4c1e87c04afd42807a5e1b', E'\\x0a2430316132303139632d613132622d373137662d393239382d653464653132663432333938122430316132303139632d613063362d376535372d396136642d30646666343764323830646318a0c21e2203445a442801320246523a25687474703a2f2f3132372e302e302e313a34363139312f6d657263693f70616e6965723d37421d687474703a2f2f3132372e302e302e313a34363139312f6465736f6c654a0a3630353633303038333250abc2f28ca03458d5c2f28ca034920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f5a78446267363449357459753058705a59616d67a2010a636f6d6d616e64652d31c201145a78446267363449357459753058705a59616d67', NULL, '2026-11-22 04:56:11.815+00'),
('01a2019c-a20a-754c-bedb-945afd23e124', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'POST /api/v1/payments/{id}/refund', 'demo-refund-1795323372027', '328208fef3eab85159090c5bc74109bb3106c15a6c5c156fbe8236b0db806438', E'\\x0a2430316132303139632d613132622d373137662d393239382d653464653132663432333938122430316132303139632d613063362d376535372d396136642d30646666343764323830646318a0c21e2203445a442806320246523a25687474703a2f2f3132372e302e302e313a34363139312f6d657263693f70616e6965723d37421d687474703a2f2f3132372e302e302e313a34363139312f6465736f6c654a0a3630353633303038333250abc2f28ca03458dfc4f28ca034608fc3f28ca0346a01307220566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92e7a06303431303732820103434942920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f5a78446267363449357459753058705a59616d679a010c3632383035382a2a37323135a2010a636f6d6d616e64652d31aa01023030b20120566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92ec201145a78446267363449357459753058705a59616d67c80102d001a0c21e', NULL, '2026-11-22 04:56:12.043+00'),
('01a2019e-83f3-7aa4-b75f-951a9b321794', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/payments', 'order-1', 'fd9850a72666df8f91623aea667cd0cbc428c6f2b6dd7e7a6d7b5e6fa23ff2e5', E'\\x0a2430316132303139652d383366342d373031312d383634312d646339323838373366383835122430316132303139632d393563302d373538652d613434352d39326433383564653538306318c8d0072203445a442801320246523a1768747470733a2f2f73686f702e6578616d706c652f6f6b421768747470733a2f2f73686f702e6578616d706c652f6e6f4a0a3638363136313830373150f487fa8ca034588988fa8ca034920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f6b425a3749456f5433435276636152614d453976a201076f726465722d31c201146b425a3749456f5433435276636152614d453976', NULL, '2026-11-22 04:58:15.411+00'),
('01a2019e-844e-784a-b371-53d309775b5f', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/payments/{id}/refund', 'refund-1', '1a1ff92f80e49d15ae36e117d79515fe7e0c25293f709e326c86b4b2b3c52225', E'\\x0a2430316132303139652d383366342d373031312d383634312d646339323838373366383835122430316132303139632d393563302d373538652d613434352d39326433383564653538306318c8d0072203445a442806320246523a1768747470733a2f2f73686f702e6578616d706c652f6f6b421768747470733a2f2f73686f702e6578616d706c652f6e6f4a0a3638363136313830373150f487fa8ca03458f388fa8ca03460bb88fa8ca0346a01307220566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92e7a06383931383136820103434942920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f6b425a3749456f5433435276636152614d4539769a010c3632383035382a2a37323135a201076f726465722d31aa01023030b20120566f74726520706169656d656e74206120c3a974c3a920616363657074c3a92ec201146b425a3749456f5433435276636152614d453976c80102d001c8d007', NULL, '2026-11-22 04:58:15.502+00'),
('01a2019e-bcef-7edd-ab79-56750af24f1d', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/payments', 'order-2', '0fc554de00aafb5bb3fd0a74ec74276b25f32f27d366859a93b90ef012ef775d', E'\\x0a2430316132303139652d626366302d373863382d616635302d373263316430343036313263122430316132303139632d393563302d373538652d613434352d39326433383564653538306318de4d2203445a442801320246523a1768747470733a2f2f73686f702e6578616d706c652f6f6b421768747470733a2f2f73686f702e6578616d706c652f6e6f4a0a3236343137323539343150f0f9fa8ca0345881fafa8ca034920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f59774d3942576235656675394173553373673334a201076f726465722d32c2011459774d3942576235656675394173553373673334', NULL, '2026-11-22 04:58:29.999+00'),
('01a201a1-a9e8-738a-ab55-7927b56b87a3', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/payments', 'order-5', 'edea55b6a1c0193873e15fcbd2813d426a9f6b7437f4e283ea5e1a27ec5e5a94', E'\\x0a2430316132303161312d613965382d373862372d393063342d333134666235646464383532122430316132303139632d393563302d373538652d613434352d39326433383564653538306318de4d2203445a442801320246523a1768747470733a2f2f73686f702e6578616d706c652f6f6b421768747470733a2f2f73686f702e6578616d706c652f6e6f4a0a3735313730333639313750e8d3868da03458f5d3868da034920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f66354776764c6a335435547935436e3647684b58a201076f726465722d35c2011466354776764c6a335435547935436e3647684b58', NULL, '2026-11-22 05:01:41.736+00'),
('01a201a1-aab1-7f61-bcad-8a15c4934398', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/payments', 'order-6', '94ea62e37a4dfe8aafb536ae9f77ba227adee09fca49d0c275e443d8eb28200b', E'\\x0a2430316132303161312d616162312d376563632d393436632d323435323031333362373334122430316132303139632d393563302d373538652d613434352d39326433383564653538306318de4d2203445a442801320246523a1768747470733a2f2f73686f702e6578616d706c652f6f6b421768747470733a2f2f73686f702e6578616d706c652f6e6f4a0a3931373833373634363750b1d5868da03458bad5868da034920137687474703a2f2f3132372e302e302e313a31383439302f7061796d656e742f7061792f38416575746d30317250487441595441496c306ba201076f726465722d36c2011438416575746d30317250487441595441496c306b', NULL, '2026-11-22 05:01:41.937+00');

insert into payment (id, business_id, amount_minor, currency, status, language, success_url, fail_url, description, order_ref, return_token, processor_order_number, processor_order_id, form_url, processor_error_code, processor_order_status, action_code, action_code_description, resp_code, resp_code_desc, approval_code, masked_pan, card_brand, refunded_amount_minor, idempotency_id, traceparent, checked_at, checks, next_check_at, leased_until, lease_token, paid_at, origin, refund_ended_at, next_reread_at, processor_refunded_minor, processor_read_at, difference, created_at, updated_at, version) values
('01a2019c-a12b-717f-9298-e4de12f42398', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '500000', 'DZD', 'REFUNDED', 'FR', 'http://127.0.0.1:46191/merci?panier=7', 'http://127.0.0.1:46191/desole', NULL, 'commande-1', 'ZvxBiqWABzhhCV0a2iBg0X1aQzGDFCGIkFYoDNyuEjc', '6056300832', 'ZxDbg64I5tYu0XpZYamg', 'http://127.0.0.1:18490/payment/pay/ZxDbg64I5tYu0XpZYamg', NULL, '2', '0', 'Votre paiement a été accepté.', '00', 'Votre paiement a été accepté.', '041072', '628058**7215', 'CIB', '500000', NULL, '00-e5864c3eac187aedbdbad5440a1d4ef7-64794bec5c6b7b5a-01', '2026-11-22 05:01:12.683+00', '0', NULL, NULL, NULL, '2026-11-22 04:56:11.919+00', NULL, '2026-11-22 04:56:12.127+00', '2026-11-22 05:56:12.127+00', '500000', '2026-11-22 05:01:12.683+00', NULL, '2026-11-22 04:56:11.819+00', '2026-11-22 04:56:12.127+00', '5'),
('01a2019e-83f4-7011-8641-dc928873f885', '01a2019c-95c0-758e-a445-92d385de580c', '125000', 'DZD', 'REFUNDED', 'FR', 'https://shop.example/ok', 'https://shop.example/no', NULL, 'order-1', 'gG-7V4NkTAFCENzXBo52Ur-ubRWBXP1wRswBoMzKlmU', '6861618071', 'kBZ7IEoT3CRvcaRaME9v', 'http://127.0.0.1:18490/payment/pay/kBZ7IEoT3CRvcaRaME9v', NULL, '2', '0', 'Votre paiement a été accepté.', '00', 'Votre paiement a été accepté.', '891816', '628058**7215', 'CIB', '125000', NULL, '00-12f65cddedbea4066d4f74e3d7db9e4b-124c7a4215ac0848-01', '2026-11-22 04:58:15.483+00', '0', NULL, NULL, NULL, '2026-11-22 04:58:15.483+00', NULL, '2026-11-22 04:58:15.539+00', '2026-11-22 05:03:15.539+00', NULL, NULL, NULL, '2026-11-22 04:58:15.412+00', '2026-11-22 04:58:15.539+00', '4'),
('01a2019e-bcf0-78c8-af50-72c1d040612c', '01a2019c-95c0-758e-a445-92d385de580c', '9950', 'DZD', 'PAID', 'FR', 'https://shop.example/ok', 'https://shop.example/no', NULL, 'order-2', 'P6LCv1Ng6pXcYfATkTdLdSKlMtXtWNaXutxjx4EyHKE', '2641725941', 'YwM9BWb5efu9AsU3sg34', 'http://127.0.0.1:18490/payment/pay/YwM9BWb5efu9AsU3sg34', NULL, '2', '0', 'Votre paiement a été accepté.', '00', 'Votre paiement a été accepté.', '020920', '628058**7215', 'CIB', NULL, NULL, '00-e9aa6dfb3cd81e0cf412eaa8a4a29a08-8625f5fd5775a4f1-01', '2026-11-22 04:58:30.099+00', '0', NULL, NULL, NULL, '2026-11-22 04:58:30.099+00', NULL, NULL, '2026-11-22 06:06:01.513+00', NULL, NULL, NULL, '2026-11-22 04:58:30+00', '2026-11-22 04:58:30.099+00', '3'),
('01a201a1-a9e8-78b7-90c4-314fb5ddd852', '01a2019c-95c0-758e-a445-92d385de580c', '9950', 'DZD', 'PAID', 'FR', 'https://shop.example/ok', 'https://shop.example/no', NULL, 'order-5', 'fFDErPHdA8vPhlqhYefic3-FSTV47-s23oni4SVi5Qs', '7517036917', 'f5GvvLj3T5Ty5Cn6GhKX', 'http://127.0.0.1:18490/payment/pay/f5GvvLj3T5Ty5Cn6GhKX', NULL, '2', '0', 'Votre paiement a été accepté.', '00', 'Votre paiement a été accepté.', '704130', '628058**7215', 'CIB', NULL, NULL, '00-433c4a3d17e9fba95adf78cfe50a1e50-fed4675c4caf96cf-01', '2026-11-22 05:01:41.803+00', '0', NULL, NULL, NULL, '2026-11-22 05:01:41.803+00', NULL, NULL, '2026-11-22 06:06:44.802+00', NULL, NULL, NULL, '2026-11-22 05:01:41.736+00', '2026-11-22 05:01:41.803+00', '3'),
('01a201a1-aab1-7ecc-946c-24520133b734', '01a2019c-95c0-758e-a445-92d385de580c', '9950', 'DZD', 'PAID', 'FR', 'https://shop.example/ok', 'https://shop.example/no', NULL, 'order-6', 'WYz9A_jmVR373Ql7GYF4HQ0M0TNXRrEdfe7vf24idyo', '9178376467', '8Aeutm01rPHtAYTAIl0k', 'http://127.0.0.1:18490/payment/pay/8Aeutm01rPHtAYTAIl0k', NULL, '2', '0', 'Votre paiement a été accepté.', '00', 'Votre paiement a été accepté.', '430374', '628058**7215', 'CIB', NULL, NULL, '00-56730108ee3d0eb6733685b21451f4b6-72dffb3cc2e7e20a-01', '2026-11-22 05:01:41.998+00', '0', NULL, NULL, NULL, '2026-11-22 05:01:41.998+00', NULL, NULL, '2026-11-22 05:49:48.759+00', NULL, NULL, NULL, '2026-11-22 05:01:41.937+00', '2026-11-22 05:01:41.998+00', '3');

insert into refund (id, business_id, payment_id, amount_minor, status, refunded_before_minor, processor_error_code, sends, last_sent_at, resend_after, decision_due_at, needs_decision_since, decision_reason, resolution, processor_refunded_minor, processor_order_status, processor_read_at, checks, next_check_at, leased_until, lease_token, idempotency_id, traceparent, created_at, updated_at, version) values
('01a2019c-a21a-742c-b4e7-6ee76847bced', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a12b-717f-9298-e4de12f42398', '500000', 'ACCEPTED', '0', NULL, '1', '2026-11-22 04:56:12.091+00', NULL, '2026-11-23 04:56:12.058+00', NULL, NULL, NULL, NULL, NULL, NULL, '0', NULL, NULL, NULL, '01a2019c-a20a-754c-bedb-945afd23e124', '00-8c35f7cde0ab90afb8faf7fc57f07c21-e62e8c6a2b010278-01', '2026-11-22 04:56:12.058+00', '2026-11-22 04:56:12.127+00', '3'),
('01a2019e-8455-7fc7-ae68-dd112236d23c', '01a2019c-95c0-758e-a445-92d385de580c', '01a2019e-83f4-7011-8641-dc928873f885', '125000', 'ACCEPTED', '0', NULL, '1', '2026-11-22 04:58:15.526+00', NULL, '2026-11-23 04:58:15.509+00', NULL, NULL, NULL, NULL, NULL, NULL, '0', NULL, NULL, NULL, '01a2019e-844e-784a-b371-53d309775b5f', '00-45435009a1e409e7bc300ced46e5ef05-1420257473977a83-01', '2026-11-22 04:58:15.509+00', '2026-11-22 04:58:15.539+00', '3');

select setval('mikro_orm_migrations_id_seq', 1);

select setval('outbox_id_seq', 7);
