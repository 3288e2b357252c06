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

create extension if not exists pg_trgm; create extension if not exists btree_gin;

create function searchable(said text) returns text immutable parallel safe language plpgsql as $$
        declare composed text := lower(normalize(said, nfc));
        begin
          return case when octet_length(composed) <= 2600 then composed else left(composed, 650) end;
        end
      $$;

create table client (
  id uuid primary key,
  business_id uuid not null,
  first_name text not null,
  middle_name text,
  last_name text not null,
  date_of_birth text not null check (date_of_birth ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  gender text not null check (gender in ('male', 'female')),
  birth_country text not null,
  nationality text not null,
  country_of_tax_residence text not null,
  address text not null,
  city text not null,
  postcode text not null,
  state_province text,
  country_code text not null,
  email text not null,
  second_email text,
  mobile_phone_number text,
  second_mobile_phone_number text,
  planned_income text,
  planned_expenditure text,
  external_client_code text,
  kyc_note text,
  blacklisted_comment text,
  blocked boolean not null,
  is_blacklisted boolean not null,
  risk_level text not null check (risk_level in ('LOW', 'MEDIUM', 'HIGH')),
  kyc_level text not null check (kyc_level in ('FULL_KYC', 'DOC_ONLY', 'NOT_REQUIRED')),
  kyc_status text not null check (kyc_status in
    ('NOT_STARTED', 'CREATED', 'PROCESSING', 'ABORTED', 'PENDING_REVIEW', 'VALIDATED', 'DECLINED')),
  -- What a search looks through, line by line: no search contains a line break.
  search_text text not null generated always as (searchable(
    email || coalesce(E'\n' || external_client_code, '') || E'\n' || first_name || coalesce(' ' || middle_name, '') || ' '
    || last_name || case when middle_name is null then '' else E'\n' || first_name || ' ' || last_name end
  )) stored,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create unique index client_business_email on client (business_id, lower(email));
-- Carries the text, so that what is common, and what is too short for trigrams, is found without reading rows.
create index client_business_created on client (business_id, created_at desc, id desc) include (search_text);
create index client_business_search on client using gin (business_id, search_text gin_trgm_ops);
create index client_business_kyc_status on client (business_id, kyc_status, created_at desc, id desc);
create index client_business_risk_level on client (business_id, risk_level, created_at desc, id desc);
create index client_business_blocked on client (business_id, created_at desc, id desc) where blocked;
create index client_business_blacklisted on client (business_id, created_at desc, id desc) where is_blacklisted;
create index client_business_external on client (business_id, external_client_code) where external_client_code is not null;

create table onboarding (
  id uuid primary key,
  business_id uuid not null,
  client_id uuid not null unique references client,
  has_details boolean not null,
  verification_id uuid,
  verification_created_at timestamptz(3),
  verification_revision integer,
  verification_status text,
  verification_verdict text,
  verification_attempts_remaining integer,
  decision text check (decision in ('APPROVED', 'DECLINED')),
  decided_verification_id uuid,
  step text not null check (step in ('DETAILS_PENDING', 'KYC_PENDING', 'KYC_PROCESSING', 'KYC_UNDER_REVIEW',
    'KYC_DECLINED', 'PENDING_APPROVAL', 'APPROVED')),
  kyc_status text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index onboarding_business_client on onboarding (business_id, client_id);

create table onboarding_details (
  id uuid primary key,
  business_id uuid not null,
  client_id uuid not null unique references client,
  account_purposes text[] not null check (cardinality(account_purposes) > 0),
  expected_monthly_incoming_volume text not null,
  expected_monthly_outgoing_volume text not null,
  is_us_person boolean not null,
  occupation text not null,
  other_occupation text,
  occupation_sector text not null,
  source_of_funds text not null,
  other_source_of_funds text,
  funds_origin_country_id integer,
  tax_identification_number text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1
);
create index onboarding_details_business_client on onboarding_details (business_id, client_id);

create table beneficiary (
  id uuid primary key,
  business_id uuid not null,
  client_id uuid not null references client,
  type text not null check (type in ('PERSON', 'COMPANY')),
  name text not null,
  display boolean not null,
  account_number text,
  iban text,
  bic text,
  swift_code text,
  routing_number text,
  bank_name text,
  bank_address text,
  address text,
  city text,
  postal_code text,
  country_code text,
  search_text text not null generated always as (
    searchable(name || coalesce(E'\n' || iban, '') || coalesce(E'\n' || account_number, ''))
  ) stored,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  constraint beneficiary_iban_or_account_number check (iban is not null or account_number is not null)
);
create index beneficiary_business_created on beneficiary (business_id, created_at desc, id desc) include (search_text);
create index beneficiary_business_search on beneficiary using gin (business_id, search_text gin_trgm_ops);
create index beneficiary_business_type on beneficiary (business_id, type, created_at desc, id desc);
create index beneficiary_business_country on beneficiary (business_id, country_code, created_at desc, id desc);
create index beneficiary_business_hidden on beneficiary (business_id, created_at desc, id desc) where not display;
create index beneficiary_business_client on beneficiary (business_id, client_id, created_at desc, id desc);

-- Ten digits of every account number come from here, for all businesses: unique by construction.
create sequence account_number as bigint minvalue 1 maxvalue 9999999999 no cycle;
create table account (
  id uuid primary key,
  business_id uuid not null,
  client_id uuid not null references client,
  account_name text not null,
  account_number text not null check (account_number ~ '^[0-9]{20}$'),
  type text not null check (type in ('CURRENT', 'SAVINGS', 'ESCROW')),
  currency text not null,
  current_balance_minor bigint not null default 0,
  available_balance_minor bigint not null default 0 check (available_balance_minor >= 0),
  reserved_balance_minor bigint not null default 0 check (reserved_balance_minor >= 0),
  status text not null check (status in ('PENDING', 'ACTIVE', 'SUSPENDED', 'CLOSED')),
  daily_limit_minor bigint check (daily_limit_minor > 0),
  monthly_limit_minor bigint check (monthly_limit_minor > 0),
  yearly_limit_minor bigint check (yearly_limit_minor > 0),
  used_on text not null check (used_on ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  used_day_minor bigint not null default 0 check (used_day_minor >= 0),
  used_month_minor bigint not null default 0 check (used_month_minor >= used_day_minor),
  used_year_minor bigint not null default 0 check (used_year_minor >= used_month_minor),
  description text,
  external_account_id text,
  search_text text not null generated always as (
    searchable(account_name || E'\n' || account_number || coalesce(E'\n' || external_account_id, ''))
  ) stored,
  closed_at timestamptz(3),
  last_activity_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  constraint account_balances check (current_balance_minor = available_balance_minor + reserved_balance_minor),
  constraint account_limits check (
    coalesce(daily_limit_minor <= monthly_limit_minor, true) and coalesce(monthly_limit_minor <= yearly_limit_minor, true)
    and coalesce(daily_limit_minor <= yearly_limit_minor, true)
  ),
  constraint account_closed check ((status = 'CLOSED') = (closed_at is not null) and (status <> 'CLOSED' or current_balance_minor = 0))
);
-- The one index that begins without the business: a number is unique among all of them.
create unique index account_account_number on account (account_number);
create unique index account_business_external_id on account (business_id, external_account_id)
  where external_account_id is not null;
create index account_business_created on account (business_id, created_at desc, id desc) include (search_text);
create index account_business_search on account using gin (business_id, search_text gin_trgm_ops);
create index account_business_status on account (business_id, status, created_at desc, id desc);
create index account_business_type on account (business_id, type, created_at desc, id desc);
create index account_business_currency on account (business_id, currency, created_at desc, id desc);
create index account_business_client on account (business_id, client_id, created_at desc, id desc);

create table account_posting (
  id uuid primary key,
  business_id uuid not null,
  account_id uuid not null references account,
  kind text not null check (kind in ('CREDIT', 'DEBIT', 'HOLD', 'CAPTURE', 'RELEASE', 'REVERSAL')),
  amount_minor bigint not null check (amount_minor > 0),
  reference text not null,
  of_id uuid references account_posting,
  counts_on text,
  created_at timestamptz(3) not null,
  check ((of_id is null) = (kind in ('CREDIT', 'DEBIT', 'HOLD')))
);
create unique index account_posting_reference on account_posting (business_id, account_id, reference);
-- A hold ends once, a posting is reversed once: the second wall behind the account's row lock.
create unique index account_posting_of on account_posting (business_id, of_id) where of_id is not null;

create table client_tally as select business_id, kyc_status, risk_level, is_blacklisted, blocked, 0::bigint as difference from client with no data;
alter table client_tally add column is_sum boolean not null default false;
create index client_tally_business on client_tally (business_id, kyc_status, risk_level, is_blacklisted, blocked) include (difference);
create index client_tally_differences on client_tally (business_id) where not is_sum;
create function client_tally_add() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          insert into client_tally (business_id, kyc_status, risk_level, is_blacklisted, blocked, difference) select business_id, kyc_status, risk_level, is_blacklisted, blocked, count(*) from added group by business_id, kyc_status, risk_level, is_blacklisted, blocked;
        elsif tg_op = 'DELETE' then
          insert into client_tally (business_id, kyc_status, risk_level, is_blacklisted, blocked, difference) select business_id, kyc_status, risk_level, is_blacklisted, blocked, -count(*) from removed group by business_id, kyc_status, risk_level, is_blacklisted, blocked;
        else
          insert into client_tally (business_id, kyc_status, risk_level, is_blacklisted, blocked, difference) select business_id, kyc_status, risk_level, is_blacklisted, blocked, sum(n) from (
            select business_id, kyc_status, risk_level, is_blacklisted, blocked, 1 as n from added union all select business_id, kyc_status, risk_level, is_blacklisted, blocked, -1 from removed
          ) changed group by business_id, kyc_status, risk_level, is_blacklisted, blocked having sum(n) <> 0;
        end if;
        return null;
      end
    $$;

create trigger client_tally_insert after insert on client referencing new table as added
  for each statement execute function client_tally_add();

create trigger client_tally_update after update on client referencing new table as added old table as removed
  for each statement execute function client_tally_add();

create trigger client_tally_delete after delete on client referencing old table as removed
  for each statement execute function client_tally_add();

create table beneficiary_tally as select business_id, type, country_code, display, 0::bigint as difference from beneficiary with no data;
alter table beneficiary_tally add column is_sum boolean not null default false;
create index beneficiary_tally_business on beneficiary_tally (business_id, type, country_code, display) include (difference);
create index beneficiary_tally_differences on beneficiary_tally (business_id) where not is_sum;
create function beneficiary_tally_add() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          insert into beneficiary_tally (business_id, type, country_code, display, difference) select business_id, type, country_code, display, count(*) from added group by business_id, type, country_code, display;
        elsif tg_op = 'DELETE' then
          insert into beneficiary_tally (business_id, type, country_code, display, difference) select business_id, type, country_code, display, -count(*) from removed group by business_id, type, country_code, display;
        else
          insert into beneficiary_tally (business_id, type, country_code, display, difference) select business_id, type, country_code, display, sum(n) from (
            select business_id, type, country_code, display, 1 as n from added union all select business_id, type, country_code, display, -1 from removed
          ) changed group by business_id, type, country_code, display having sum(n) <> 0;
        end if;
        return null;
      end
    $$;

create trigger beneficiary_tally_insert after insert on beneficiary referencing new table as added
  for each statement execute function beneficiary_tally_add();

create trigger beneficiary_tally_update after update on beneficiary referencing new table as added old table as removed
  for each statement execute function beneficiary_tally_add();

create trigger beneficiary_tally_delete after delete on beneficiary referencing old table as removed
  for each statement execute function beneficiary_tally_add();

create table account_tally as select business_id, type, status, currency, 0::bigint as difference from account with no data;
alter table account_tally add column is_sum boolean not null default false;
create index account_tally_business on account_tally (business_id, type, status, currency) include (difference);
create index account_tally_differences on account_tally (business_id) where not is_sum;
create function account_tally_add() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          insert into account_tally (business_id, type, status, currency, difference) select business_id, type, status, currency, count(*) from added group by business_id, type, status, currency;
        elsif tg_op = 'DELETE' then
          insert into account_tally (business_id, type, status, currency, difference) select business_id, type, status, currency, -count(*) from removed group by business_id, type, status, currency;
        else
          insert into account_tally (business_id, type, status, currency, difference) select business_id, type, status, currency, sum(n) from (
            select business_id, type, status, currency, 1 as n from added union all select business_id, type, status, currency, -1 from removed
          ) changed group by business_id, type, status, currency having sum(n) <> 0;
        end if;
        return null;
      end
    $$;

create trigger account_tally_insert after insert on account referencing new table as added
  for each statement execute function account_tally_add();

create trigger account_tally_update after update on account referencing new table as added old table as removed
  for each statement execute function account_tally_add();

create trigger account_tally_delete after delete on account referencing old table as removed
  for each statement execute function account_tally_add();

insert into mikro_orm_migrations (id, name, executed_at) values
('1', '0001-initial', '2026-11-22 04:56:03.290604+00');

insert into outbox (id, topic, key, payload, headers, created_at) overriding system value values
('2', 'audit.v1', '01a2019e-84bd-711f-8bce-96b35c048b7b', E'\\x0a07616b5f4878315412136f6e626f617264696e672e6465636c696e65641a0a6f6e626f617264696e67222430316132303139652d383462642d373131662d386263652d3936623335633034386237622a2430316132303139632d393563302d373538652d613434352d39326433383564653538306332003a00422430316132303161312d616336302d373565352d613935382d6566353461326132366531664a093132372e302e302e31520961736b656420666f72', '{"ce_id": "01a201a1-ac60-7dad-8d51-4e159f2f0041", "ce_time": "2026-11-22T05:01:42.369Z", "ce_type": "identity.v1.ActionRecorded", "ce_source": "clients", "content-type": "application/protobuf", "ce_specversion": "1.0"}', '2026-11-22 05:01:42.369426+00');

insert into inbox (consumer, event_id, received_at) values
('clients', '01a2019c-a306-7043-b66b-714aa64dc04a', '2026-11-22 04:56:12.400403+00'),
('clients', '01a2019c-a3e4-7096-95bd-6f1ffd5eaa4c', '2026-11-22 04:56:12.565577+00'),
('clients', '01a2019c-a479-7a8e-be0a-02c150228616', '2026-11-22 04:56:12.70515+00'),
('clients', '01a2019c-a4e5-739a-b3b8-124f94e099f0', '2026-11-22 04:56:12.805905+00'),
('clients', '01a2019c-a54e-7f38-b121-7b7cc1452a52', '2026-11-22 04:56:12.915307+00'),
('clients', '01a2019c-a58b-7bc2-9a97-a2786a48bdb3', '2026-11-22 04:56:12.984481+00'),
('clients', '01a2019c-a62d-7936-9a11-e71060cdf5f5', '2026-11-22 04:56:13.122717+00'),
('clients', '01a2019c-a766-7064-94ae-f1c480f202ce', '2026-11-22 04:56:13.429888+00'),
('clients', '01a2019c-a7dd-72de-8742-d4382957e590', '2026-11-22 04:56:13.555241+00'),
('clients', '01a2019e-8495-75ec-8972-9a2f6c23a243', '2026-11-22 04:58:15.589971+00');

insert into dead_letter (id, position, consumer, topic, key, event_id, event_type, payload, headers, status, reason, failure, attempts, next_attempt_at, created_at, updated_at) overriding system value values
('01a2019e-d51c-7a97-bee8-922d61abcd6a', '1', 'clients', 'kyc.v1', '01a2019e-bd6e-7890-a866-fc3d26cbde89', '01a2019e-bd75-7be4-82e1-6c6e82d2a5d8', 'kyc.v1.KycCreated', E'\\x080a12760a2430316132303139652d626436652d373839302d613836362d666333643236636264653839122430316132303139632d393563302d373538652d613434352d39326433383564653538306318f4fafa8ca03428f0a2c788a134300138f4fafa8ca03442027b7d6003720b6170706c6963616e742d321801', '{"ce_id": "01a2019e-bd75-7be4-82e1-6c6e82d2a5d8", "ce_time": "2026-11-22T04:58:30.132Z", "ce_type": "kyc.v1.KycCreated", "ce_source": "kyc", "traceparent": "00-23d33e348a4a655cae5c0a9535d07c7d-47bee7ba14ba473f-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', 'RETRYING', 'DriverException: canceling statement due to lock timeout', 'DriverException: canceling statement due to lock timeout', '7', '2026-11-22 05:01:43.218+00', '2026-11-22 04:58:36.186+00', '2026-11-22 05:00:43.218+00'),
('01a2019e-d52e-7497-b9f7-ee5401c50907', '2', 'clients', 'kyc.v1', '01a2019e-bd6e-7890-a866-fc3d26cbde89', '01a2019e-bda8-7187-a297-151334fb770d', 'kyc.v1.KycCanceled', E'\\x080712760a2430316132303139652d626436652d373839302d613836362d666333643236636264653839122430316132303139632d393563302d373538652d613434352d39326433383564653538306318f4fafa8ca03428f0a2c788a134300738a5fbfa8ca03442027b7d6003720b6170706c6963616e742d321802', '{"ce_id": "01a2019e-bda8-7187-a297-151334fb770d", "ce_time": "2026-11-22T04:58:30.181Z", "ce_type": "kyc.v1.KycCanceled", "ce_source": "kyc", "traceparent": "00-23d33e348a4a655cae5c0a9535d07c7d-47bee7ba14ba473f-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', 'WAITING', 'It waits behind an earlier event of its key.', '', '0', '2026-11-22 04:58:36.202+00', '2026-11-22 04:58:36.202+00', '2026-11-22 04:58:36.202+00');

insert into idempotency_key (id, scope, route, key, fingerprint, answer, refusal, created_at) values
('01a2019e-84bc-7bfe-b0b6-9b7d1e42103d', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/clients/person', 'client-1', '2c59f43d8edbb4262077aea17e33d167de07e857bbb1c2e190660a2d643d8558', E'\\x0a2430316132303139652d383462642d373131662d386263652d393662333563303438623762122430316132303139632d393563302d373538652d613434352d3932643338356465353830631a075961736d696e652a06486164646164320a313939322d30322d32393a0666656d616c654203445a414a03445a415203445a415a163520727565204c617262692042656e204d276869646962044f72616e6a0533313030307203445a417a197961736d696e652e686164646164406578616d706c652e647a900101980101a00101a801bd89fa8ca034b001bd89fa8ca034', NULL, '2026-11-22 04:58:15.612+00'),
('01a2019e-84d1-7c79-ad75-68b2d3780254', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/accounts', 'account-1', 'da8905e75fff328491261ec4fb0eaf3fb36b50dc74f7f2ef157e825bd194d11a', E'\\x0a2430316132303139652d383464342d376131312d393939612d663834356232346232613662122430316132303139632d393563302d373538652d613434352d3932643338356465353830631a2430316132303139652d383462642d373131662d386263652d393662333563303438623762220e436f6d70746520636f7572616e742a14393939303030303130303030303030303032343130013a03445a44580160d489fa8ca03468d489fa8ca0348001c096b102', NULL, '2026-11-22 04:58:15.633+00'),
('01a2019e-84e0-734e-8ed1-bafcb2ba0096', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/beneficiaries', 'beneficiary-1', '7e1c57dd66aad31ced39e5759527c92826a9e7834de534f1b7b90fbba6fcace8', E'\\x0a2430316132303139652d383465322d373466642d396631662d303333663535663632323637122430316132303139632d393563302d373538652d613434352d3932643338356465353830631a2430316132303139652d383462642d373131662d386263652d39366233356330343862376220012a0c4b6172696d20486164646164300138e289fa8ca03440e289fa8ca034521a445a3538303030323130303030313131333030303030303537309a0103445a41', NULL, '2026-11-22 04:58:15.648+00');

insert into client (id, business_id, first_name, middle_name, last_name, date_of_birth, gender, birth_country, nationality, country_of_tax_residence, address, city, postcode, state_province, country_code, email, second_email, mobile_phone_number, second_mobile_phone_number, planned_income, planned_expenditure, external_client_code, kyc_note, blacklisted_comment, blocked, is_blacklisted, risk_level, kyc_level, kyc_status, created_at, updated_at, version) values
('01a2019c-a67d-73f4-a0f8-212ace6be748', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', 'Amina', NULL, 'Benali', '1990-05-17', 'female', 'DZA', 'DZA', 'DZA', '12 rue Didouche Mourad', 'Alger', '16000', NULL, 'DZA', 'amina.1795323373162@example.dz', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, false, 'LOW', 'FULL_KYC', 'VALIDATED', '2026-11-22 04:56:13.181+00', '2026-11-22 04:56:13.559+00', '3'),
('01a2019e-84bd-711f-8bce-96b35c048b7b', '01a2019c-95c0-758e-a445-92d385de580c', 'Yasmine', NULL, 'Haddad', '1992-02-29', 'female', 'DZA', 'DZA', 'DZA', '5 rue Larbi Ben M''hidi', 'Oran', '31000', NULL, 'DZA', 'yasmine.haddad@example.dz', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, false, 'LOW', 'FULL_KYC', 'NOT_STARTED', '2026-11-22 04:58:15.613+00', '2026-11-22 04:58:15.613+00', '1');

insert into onboarding (id, business_id, client_id, has_details, verification_id, verification_created_at, verification_revision, verification_status, verification_verdict, verification_attempts_remaining, decision, decided_verification_id, step, kyc_status, created_at, updated_at, version) values
('01a2019c-a67d-76d4-b073-1c03c2ed9117', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a67d-73f4-a0f8-212ace6be748', true, '01a2019c-a755-7282-b880-797bdb6807a8', '2026-11-22 04:56:13.413+00', '2', 'COMPLETED', 'APPROVED', '2', 'APPROVED', '01a2019c-a755-7282-b880-797bdb6807a8', 'APPROVED', 'VALIDATED', '2026-11-22 04:56:13.181+00', '2026-11-22 04:56:13.643+00', '5'),
('01a2019e-84bd-719e-abbe-4d525355f58b', '01a2019c-95c0-758e-a445-92d385de580c', '01a2019e-84bd-711f-8bce-96b35c048b7b', false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'DETAILS_PENDING', 'NOT_STARTED', '2026-11-22 04:58:15.613+00', '2026-11-22 04:58:15.613+00', '1');

insert into onboarding_details (id, business_id, client_id, account_purposes, expected_monthly_incoming_volume, expected_monthly_outgoing_volume, is_us_person, occupation, other_occupation, occupation_sector, source_of_funds, other_source_of_funds, funds_origin_country_id, tax_identification_number, created_at, updated_at, version) values
('01a2019c-a6f1-7562-911c-7683767bba4b', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a67d-73f4-a0f8-212ace6be748', '{SALARY,SAVINGS}', 'BETWEEN1001_AND5000', 'LESS_THAN1000', false, 'ENGINEER', NULL, 'INFORMATIONAL_TECHNOLOGIES', 'SAVINGS_FROM_SALARY', NULL, NULL, NULL, '2026-11-22 04:56:13.297+00', '2026-11-22 04:56:13.297+00', '1');

insert into beneficiary (id, business_id, client_id, type, name, display, account_number, iban, bic, swift_code, routing_number, bank_name, bank_address, address, city, postal_code, country_code, created_at, updated_at, version) values
('01a2019c-a892-7dc3-994b-310391c60001', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a67d-73f4-a0f8-212ace6be748', 'PERSON', 'Karim Haddad', true, NULL, 'DZ580002100001113000000570', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'DZA', '2026-11-22 04:56:13.714+00', '2026-11-22 04:56:13.714+00', '1'),
('01a2019e-84e2-74fd-9f1f-033f55f62267', '01a2019c-95c0-758e-a445-92d385de580c', '01a2019e-84bd-711f-8bce-96b35c048b7b', 'PERSON', 'Karim Haddad', true, NULL, 'DZ580002100001113000000570', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'DZA', '2026-11-22 04:58:15.65+00', '2026-11-22 04:58:15.65+00', '1');

insert into account (id, business_id, client_id, account_name, account_number, type, currency, current_balance_minor, available_balance_minor, reserved_balance_minor, status, daily_limit_minor, monthly_limit_minor, yearly_limit_minor, used_on, used_day_minor, used_month_minor, used_year_minor, description, external_account_id, closed_at, last_activity_at, created_at, updated_at, version) values
('01a2019c-a720-7088-9860-77323d9a60f4', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a67d-73f4-a0f8-212ace6be748', 'Compte courant', '99900001000000000144', 'CURRENT', 'DZD', '0', '0', '0', 'ACTIVE', '5000000', NULL, NULL, '2026-11-22', '0', '0', '0', NULL, NULL, NULL, NULL, '2026-11-22 04:56:13.344+00', '2026-11-22 04:56:13.694+00', '2'),
('01a2019e-84d4-7a11-999a-f845b24b2a6b', '01a2019c-95c0-758e-a445-92d385de580c', '01a2019e-84bd-711f-8bce-96b35c048b7b', 'Compte courant', '99900001000000000241', 'CURRENT', 'DZD', '10000', '10000', '0', 'PENDING', '5000000', NULL, NULL, '2026-11-22', '0', '0', '0', NULL, NULL, NULL, NULL, '2026-11-22 04:58:15.636+00', '2026-11-22 04:58:15.636+00', '1');

insert into account_posting (id, business_id, account_id, kind, amount_minor, reference, of_id, counts_on, created_at) values
('01a201a1-ac65-7029-967c-afe4003ca7b9', '01a2019c-95c0-758e-a445-92d385de580c', '01a2019e-84d4-7a11-999a-f845b24b2a6b', 'CREDIT', '10000', 'salary', NULL, NULL, '2026-11-22 05:01:42.372+00');

select setval('account_number', 2);

select setval('dead_letter_position_seq', 2);

select setval('mikro_orm_migrations_id_seq', 1);

select setval('outbox_id_seq', 2);
