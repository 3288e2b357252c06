-- Links are removed by the end of the application. Reviews and notices move updated_at, and then links were kept longer. In a
-- large database the index is made by hand before: create index concurrently. The former version removes links through
-- kyc_application_link_age, which a later release drops.
create index if not exists kyc_application_link_end on kyc_application (least(completed_at, updated_at))
  where link_ciphertext is not null;
