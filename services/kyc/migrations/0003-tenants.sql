select keep_to_tenants('kyc_application');
select keep_to_tenants('link_request');
select keep_tally_to_tenants('kyc_application_tally');
-- For what is looked up by split_part, which PostgreSQL does not vouch for.
select show_to_tenants('kyc_application');
