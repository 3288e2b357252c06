-- What a person types is looked for in trigrams; the business stands in front there too.
create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- How a text is searched: in lower case and composed, as what is typed is. An index row takes 2 700 bytes at most; only
-- names of hundreds of four-byte characters come to more, and are searched by what they begin with.
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

-- How many rows have which values, for lists that say how many there are without counting: Tally in packages/database.
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
