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

create table kyc_application (
  id uuid primary key,
  business_id uuid not null,
  client_id uuid,
  external_id text,
  status text not null
    check (status in ('CREATED', 'OPENED', 'SUBMITTED', 'PROCESSING', 'COMPLETED', 'EXPIRED', 'CANCELED', 'FAILED')),
  provider_id text not null unique,
  link_ciphertext text,
  link_expires_at timestamptz(3) not null,
  metadata text not null,
  allowed_documents text[] not null,
  require_video boolean not null,
  max_attempts integer not null,
  attempts_used integer not null,
  sequence integer not null,
  provider_verdict text,
  verdict text check (verdict in ('APPROVED', 'NEEDS_REVIEW', 'REJECTED')),
  reviewed_at timestamptz(3),
  review_request jsonb,
  cancel_key text,
  reason_codes text[] not null,
  liveness_outcome text,
  face_match_outcome text,
  document_type text,
  document_expiry text check (document_expiry ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'),
  document_notices integer not null,
  nationality text,
  aml_hit_count integer not null,
  aml_decision text,
  completed_at timestamptz(3),
  synced_at timestamptz(3) not null,
  next_check_at timestamptz(3),
  checks integer not null,
  refreshed_at timestamptz(3),
  traceparent text,
  revision integer not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  version integer not null default 1,
  -- A verdict there is if and only if the application is COMPLETED.
  check ((status = 'COMPLETED') = (verdict is not null))
);
create index kyc_application_business_created on kyc_application (business_id, created_at desc, id desc);
create index kyc_application_business_status on kyc_application (business_id, status, created_at desc, id desc);
create index kyc_application_business_verdict on kyc_application (business_id, verdict, created_at desc, id desc);
create index kyc_application_business_client on kyc_application (business_id, client_id) where client_id is not null;
create index kyc_application_business_external on kyc_application (business_id, external_id) where external_id is not null;
create index kyc_application_next_check on kyc_application (next_check_at) where next_check_at is not null;
create index kyc_application_link_age on kyc_application (updated_at) where link_ciphertext is not null;
create index kyc_application_link_key on kyc_application (split_part(link_ciphertext, ':', 1), id)
  where link_ciphertext is not null;
create index kyc_application_document on kyc_application (document_expiry)
  where verdict = 'APPROVED' and document_notices < 3;

-- An application that the provider is being asked for. Its id goes with the Idempotency-Key until the application is
-- there, so that whoever asks again, after a crash or an unknown outcome, asks for the same one.
create table link_request (
  application_id uuid primary key,
  business_id uuid not null,
  route text not null,
  key text not null,
  fingerprint text not null,
  leased_until timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  unique (business_id, route, key)
);
create index link_request_created_at on link_request (created_at);

create table provider_event (
  event_id text primary key,
  received_at timestamptz(3) not null default now()
);
create index provider_event_received_at on provider_event (received_at);

-- How far the provider's list of events was read. One row.
create table provider_cursor (
  only_row boolean primary key default true check (only_row),
  cursor text
);
insert into provider_cursor (cursor) values (null);

create table kyc_application_tally as select business_id, status, verdict, 0::bigint as difference from kyc_application with no data;
alter table kyc_application_tally add column is_sum boolean not null default false;
create index kyc_application_tally_business on kyc_application_tally (business_id, status, verdict) include (difference);
create index kyc_application_tally_differences on kyc_application_tally (business_id) where not is_sum;
create function kyc_application_tally_add() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then
          insert into kyc_application_tally (business_id, status, verdict, difference) select business_id, status, verdict, count(*) from added group by business_id, status, verdict;
        elsif tg_op = 'DELETE' then
          insert into kyc_application_tally (business_id, status, verdict, difference) select business_id, status, verdict, -count(*) from removed group by business_id, status, verdict;
        else
          insert into kyc_application_tally (business_id, status, verdict, difference) select business_id, status, verdict, sum(n) from (
            select business_id, status, verdict, 1 as n from added union all select business_id, status, verdict, -1 from removed
          ) changed group by business_id, status, verdict having sum(n) <> 0;
        end if;
        return null;
      end
    $$;

create trigger kyc_application_tally_insert after insert on kyc_application referencing new table as added
  for each statement execute function kyc_application_tally_add();

create trigger kyc_application_tally_update after update on kyc_application referencing new table as added old table as removed
  for each statement execute function kyc_application_tally_add();

create trigger kyc_application_tally_delete after delete on kyc_application referencing old table as removed
  for each statement execute function kyc_application_tally_add();

insert into mikro_orm_migrations (id, name, executed_at) values
('1', '0001-initial', '2026-11-22 04:56:02.715095+00');

insert into outbox (id, topic, key, payload, headers, created_at) overriding system value values
('14', 'kyc.v1', '01a201a1-aa48-7ef0-ab8a-cae6f5ba36b7', E'\\x080a12760a2430316132303161312d616134382d376566302d616238612d636165366635626133366237122430316132303139632d393563302d373538652d613434352d39326433383564653538306318d0d4868da03428cbfcd288a134300138d0d4868da03442027b7d6003720b6170706c6963616e742d351801', '{"ce_id": "01a201a1-aa52-75ad-93e8-fe660895b948", "ce_time": "2026-11-22T05:01:41.840Z", "ce_type": "kyc.v1.KycCreated", "ce_source": "kyc", "traceparent": "00-6ff09dec0659b535c739296393b4e850-c92aac205e4e58de-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', '2026-11-22 05:01:41.839126+00'),
('15', 'kyc.v1', '01a201a1-aa48-7ef0-ab8a-cae6f5ba36b7', E'\\x080712760a2430316132303161312d616134382d376566302d616238612d636165366635626133366237122430316132303139632d393563302d373538652d613434352d39326433383564653538306318d0d4868da03428cbfcd288a134300738f9d4868da03442027b7d6003720b6170706c6963616e742d351802', '{"ce_id": "01a201a1-aa79-7403-8296-65c55c538aa2", "ce_time": "2026-11-22T05:01:41.881Z", "ce_type": "kyc.v1.KycCanceled", "ce_source": "kyc", "traceparent": "00-6ff09dec0659b535c739296393b4e850-c92aac205e4e58de-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', '2026-11-22 05:01:41.872622+00'),
('16', 'kyc.v1', '01a201a1-aafb-7853-bcdf-66f5636fb40b', E'\\x080a12760a2430316132303161312d616166622d373835332d626364662d363666353633366662343062122430316132303139632d393563302d373538652d613434352d3932643338356465353830631880d6868da03428fdfdd288a13430013880d6868da03442027b7d6003720b6170706c6963616e742d361801', '{"ce_id": "01a201a1-ab01-7c93-9f2a-309a5a1a6d24", "ce_time": "2026-11-22T05:01:42.016Z", "ce_type": "kyc.v1.KycCreated", "ce_source": "kyc", "traceparent": "00-2ab191315099069fa1099b5b3b0ff576-35dec385b5df8a9d-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', '2026-11-22 05:01:42.014952+00'),
('17', 'kyc.v1', '01a201a1-aafb-7853-bcdf-66f5636fb40b', E'\\x080712760a2430316132303161312d616166622d373835332d626364662d363666353633366662343062122430316132303139632d393563302d373538652d613434352d3932643338356465353830631880d6868da03428fdfdd288a13430073892d6868da03442027b7d6003720b6170706c6963616e742d361802', '{"ce_id": "01a201a1-ab13-7941-ab97-f5e95be458e1", "ce_time": "2026-11-22T05:01:42.034Z", "ce_type": "kyc.v1.KycCanceled", "ce_source": "kyc", "traceparent": "00-2ab191315099069fa1099b5b3b0ff576-35dec385b5df8a9d-01", "content-type": "application/protobuf", "ce_specversion": "1.0"}', '2026-11-22 05:01:42.030594+00');

insert into idempotency_key (id, scope, route, key, fingerprint, answer, refusal, created_at) values
('01a2019e-8493-7535-b598-8a20253db996', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/kyc/applications', 'application-1', 'f160ae13d704e2e6575f6d9e185f4a4e5534d2ead768ef4a3f7cbd7b2bdb22ce', E'\\x0a2430316132303139652d383438612d373633352d623034302d396563623766613864393538122430316132303139632d393563302d373538652d613434352d393264333835646535383063189489fa8ca034288db1c688a1343001389489fa8ca03442027b7d6003720b6170706c6963616e742d31', NULL, '2026-11-22 04:58:15.571+00');

insert into kyc_application (id, business_id, client_id, external_id, status, provider_id, link_ciphertext, link_expires_at, metadata, allowed_documents, require_video, max_attempts, attempts_used, sequence, provider_verdict, verdict, reviewed_at, review_request, cancel_key, reason_codes, liveness_outcome, face_match_outcome, document_type, document_expiry, document_notices, nationality, aml_hit_count, aml_decision, completed_at, synced_at, next_check_at, checks, refreshed_at, traceparent, revision, created_at, updated_at, version) values
('01a2019c-a2b9-775b-9a95-f5c95f96afb6', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', NULL, 'applicant-1', 'COMPLETED', 'ver_9d428069ab48fe1a26c83573', 'dev:1Ufg8RyIVOfMMtNZfBtvMTvN9FQrV+dSAuu/xVNYUh8TGsoPyxNcLNCPsRPweHPIgTYxtIEz2jL6rug0SXCMDHRJmaF7avf2ffyhQXAwdE/YUJ7gZ0T89ugYbgZIWN2RPwDpvLA=', '2026-11-25 04:56:12.221+00', '{"cart":7,"vip":true}', '{id_card,passport}', true, '3', '1', '5', 'APPROVED', 'APPROVED', NULL, NULL, NULL, '{}', 'PASSED', 'PASSED', 'id_card', '2031-06-30', '0', 'DZA', '0', 'CLEAR', '2026-11-22 04:56:12.362+00', '2026-11-22 04:56:12.767+00', NULL, '0', NULL, '00-feb5c604edbe2895bea4289e78c37466-e802b7cd7e58c272-01', '2', '2026-11-22 04:56:12.241+00', '2026-11-22 04:56:12.512+00', '5'),
('01a2019c-a455-703b-85fc-189d0e94485d', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', NULL, 'applicant-2', 'COMPLETED', 'ver_7ab4ca22cde34cf7c6ac18ff', 'dev:bNb5qQZpBFnmk5WlsURrVb84Ir6k9c+MNVVBGdn8I9PmJ7W5crwm33Vv/K8EA369sVHYpbjrmJXtZAHj19CCe5bMGfm5yCtdUjo2mpr4WCV8sqnVp9aG044vpZSLmqJXoYSgCXA=', '2026-11-25 04:56:12.635+00', '{}', '{id_card,passport}', true, '3', '1', '5', 'APPROVED', 'REJECTED', NULL, NULL, NULL, '{DOCUMENT_EXPIRED}', 'PASSED', 'PASSED', 'id_card', '2020-01-31', '0', 'DZA', '0', 'CLEAR', '2026-11-22 04:56:12.695+00', '2026-11-22 04:56:12.943+00', NULL, '0', NULL, '00-beb416086db4534e5f9a1da630c155df-35d754980927f28c-01', '2', '2026-11-22 04:56:12.665+00', '2026-11-22 04:56:12.772+00', '5'),
('01a2019c-a53e-7a97-9bb0-1ace3d5297f4', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', NULL, 'applicant-3', 'COMPLETED', 'ver_676c25e6fc7cb749704fe57f', 'dev:aOMhYq9GEJqKFC7SppfeEkj8mqRvGCi1Q6zt9i7X9eR38vOG7LmhbBI4gAfy5pS3cD4xqeEFGLjIdMpd7MObqF/1ibxrMqC/FSjtpuCo+pK2BYNbRc4suxHYEs7k3EwvlS+QXjM=', '2026-11-25 04:56:12.87+00', '{}', '{id_card,passport}', true, '3', '1', '5', 'APPROVED', 'APPROVED', '2026-11-22 04:56:13.099+00', '{"note": "Same name as on a sanctions list, another date of birth.", "actor": "ak_Hx1TamH8R66u8", "actorId": "01a2019c-8f2b-7d32-b52f-cba81c14ab65", "address": "127.0.0.1", "outcome": "APPROVED", "untilMs": 1795323401087.4402, "requestId": "01a2019c-a614-73ea-8391-da39e348287e", "fingerprint": null, "idempotencyKey": null}', NULL, '{AML_MATCH}', 'PASSED', 'PASSED', 'id_card', '2031-06-30', '0', 'DZA', '1', 'POSSIBLE_MATCH', '2026-11-22 04:56:12.904+00', '2026-11-22 04:56:13.024+00', NULL, '1', NULL, '00-637e864559ea52d66e78b419ac463822-51c7cab512edbc4e-01', '3', '2026-11-22 04:56:12.878+00', '2026-11-22 04:56:13.099+00', '6'),
('01a2019c-a755-7282-b880-797bdb6807a8', '01a2019c-a0c6-7e57-9a6d-0dff47d280dc', '01a2019c-a67d-73f4-a0f8-212ace6be748', NULL, 'COMPLETED', 'ver_9d0e7d40ea5dd60ae43aa516', 'dev:J17fYy86zrvSrs1jMoQFHB1oVcv5LoxJsH377sJRmyEjr7FHyE/ipb9tJwWqTMPMa6a8dcSJQWh3B+M6Me1vtsqRZTV0/rMUyMH2srJg6bt5kzYRC5McI2m9rYCsTOhQcP8aRR8=', '2026-11-25 04:56:13.406+00', '{}', '{id_card,passport}', true, '3', '1', '5', 'APPROVED', 'APPROVED', NULL, NULL, NULL, '{}', 'PASSED', 'PASSED', 'id_card', '2031-06-30', '0', 'DZA', '0', 'CLEAR', '2026-11-22 04:56:13.509+00', '2026-11-22 04:56:13.649+00', NULL, '0', NULL, '00-2f56e55af027c15f84d1d23bdd5ee6a3-1f44e722364b3d4b-01', '2', '2026-11-22 04:56:13.413+00', '2026-11-22 04:56:13.532+00', '5'),
('01a2019e-848a-7635-b040-9ecb7fa8d958', '01a2019c-95c0-758e-a445-92d385de580c', NULL, 'applicant-1', 'CREATED', 'ver_1ab223ea1d4e5ff466ff2801', 'dev:enKspNxDBoifMnK04Kq4mZQrB4bdltCKymmIUTjd8kaKlCBzyeNul4d7L3lrKwCn/MtV9qPMgbs+Mog+OORpvzkIIkdeGxU/vWDwvKkg1BhtY33KSRzeNzSeFWk/0u3H1h9o0UA=', '2026-11-25 04:58:15.565+00', '{}', '{id_card,passport}', true, '3', '0', '0', NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, '0', NULL, '0', NULL, NULL, '2026-11-22 04:58:15.572+00', '2026-11-22 05:03:15.572+00', '1', NULL, '00-cfe3d2549ec8f0b876e25e9b685b9d52-34a88125dde6933a-01', '1', '2026-11-22 04:58:15.572+00', '2026-11-22 04:58:15.572+00', '1'),
('01a2019e-bd6e-7890-a866-fc3d26cbde89', '01a2019c-95c0-758e-a445-92d385de580c', NULL, 'applicant-2', 'CANCELED', 'ver_0fb98bef6a1315958af746e0', 'dev:J7RLwe8WDe7MFUEQQ4Pg2i1ydlPcafUHpbi1K/89I/3uRR1Qxeujo83cZct36lwdw2Qy2gcP1WUaiT5ciY5xQmZLfUzDmum6UQ4NnlVJ1Fz+sEAFBOg9GdnYvkwiTlkXgvLFFJ0=', '2026-11-25 04:58:30.128+00', '{}', '{id_card,passport}', true, '3', '0', '2', NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, '0', NULL, '0', NULL, NULL, '2026-11-22 04:58:30.21+00', NULL, '0', NULL, '00-23d33e348a4a655cae5c0a9535d07c7d-47bee7ba14ba473f-01', '2', '2026-11-22 04:58:30.132+00', '2026-11-22 04:58:30.181+00', '3'),
('01a201a1-aa48-7ef0-ab8a-cae6f5ba36b7', '01a2019c-95c0-758e-a445-92d385de580c', NULL, 'applicant-5', 'CANCELED', 'ver_b96f26556963f1d3d6f9b1ba', 'dev:P7qnW3gfI7Je/TSEgI62o/yFunBXzY/CmVJYIElCCPcS4wFGfaZHeOqxngSgaJ9GZFb083fP53HEPH/jEaR24pRM/NNfxTwi2sAJgNfR4lmTDMVQcJ1yrD0cVcIax7C7m28IYKg=', '2026-11-25 05:01:41.835+00', '{}', '{id_card,passport}', true, '3', '0', '2', NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, '0', NULL, '0', NULL, NULL, '2026-11-22 05:01:41.895+00', NULL, '0', NULL, '00-6ff09dec0659b535c739296393b4e850-c92aac205e4e58de-01', '2', '2026-11-22 05:01:41.84+00', '2026-11-22 05:01:41.881+00', '3'),
('01a201a1-aafb-7853-bcdf-66f5636fb40b', '01a2019c-95c0-758e-a445-92d385de580c', NULL, 'applicant-6', 'CANCELED', 'ver_0b57f27f89da917c4e9db6a3', 'dev:/F395iIW8qLQFVuruY7LNXZdVFiDvdolTq+O4IB45293OEZyEPEFzzqvZqdnXRrqTCvFgDoTOW5WpGD4Lnu6Ci7iZ6TGy8BjeroG/JLL3do9ICulRN3jMnLKTwf9NlMDjMXaAmE=', '2026-11-25 05:01:42.013+00', '{}', '{id_card,passport}', true, '3', '0', '2', NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, NULL, '0', NULL, '0', NULL, NULL, '2026-11-22 05:01:42.041+00', NULL, '0', NULL, '00-2ab191315099069fa1099b5b3b0ff576-35dec385b5df8a9d-01', '2', '2026-11-22 05:01:42.016+00', '2026-11-22 05:01:42.034+00', '3');

insert into link_request (application_id, business_id, route, key, fingerprint, leased_until, created_at) values
('01a201a1-ac76-79c3-b5b9-79ee71242e3d', '01a2019c-95c0-758e-a445-92d385de580c', 'POST /api/v1/kyc/applications', 'application-2', 'f0', '2026-11-22 05:01:42.39+00', '2026-11-22 05:01:42.39+00');

insert into provider_event (event_id, received_at) values
('14c71a2a-8e38-4573-94ba-653014ac12b8', '2026-11-22 04:56:12.802+00'),
('2c7a7cb4-5fdc-4d47-80f7-f32f81aa5596', '2026-11-22 04:56:12.757+00'),
('344c2c8c-dad1-4b52-a1f2-48b80f8db576', '2026-11-22 04:58:30.207+00'),
('384cc3c1-eebd-43f2-b451-143e4fcc2713', '2026-11-22 04:56:12.995+00'),
('49ff1cde-1136-417d-b17e-5d408f87deef', '2026-11-22 04:56:12.66+00'),
('4c6e6361-b62d-4f49-96f0-7b6a7a229507', '2026-11-22 04:56:12.928+00'),
('5ecf49e0-7698-4dde-b235-4188f559bb3a', '2026-11-22 04:56:12.971+00'),
('73eb8228-ed2b-4988-b6c2-5eebb3ad05f3', '2026-11-22 04:56:13.02+00'),
('951f40cc-6441-49f3-bacf-6998fdfb1082', '2026-11-22 05:01:42.039+00'),
('9e49d227-9786-4031-abb3-1780f75ca51d', '2026-11-22 05:01:41.892+00'),
('aa63d898-c950-41a3-b949-44a43d1ec4de', '2026-11-22 04:56:12.874+00'),
('c212773c-fc8c-48db-aaa5-4753b0c0c148', '2026-11-22 04:56:12.492+00'),
('ca257092-6a7c-4765-a7f1-1daae58ba2c7', '2026-11-22 04:56:13.518+00'),
('d220d2ef-4349-48de-a570-8d6344fc837d', '2026-11-22 04:56:13.596+00'),
('e3d7103d-e084-4366-9576-146425c403a5', '2026-11-22 04:56:12.579+00'),
('eaa4ad2a-674a-413d-8a5f-afae118fb4fc', '2026-11-22 04:56:13.559+00'),
('f3327e1f-31ab-4a96-9868-bc6b76e3d37d', '2026-11-22 04:56:13.629+00'),
('f83781d5-0958-4528-9de8-0b8fdefdc219', '2026-11-22 04:56:12.934+00'),
('fc9c4882-8bc4-4ac6-b1f0-a4a05560241f', '2026-11-22 04:56:12.764+00');

delete from provider_cursor;

insert into provider_cursor (only_row, cursor) values
(true, '17');

select setval('mikro_orm_migrations_id_seq', 1);

select setval('outbox_id_seq', 17);
