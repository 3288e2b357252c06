-- Keys are looked up by their hashes for the platform, which sees all; a business sees its own.
select keep_to_tenants('api_key');
-- Rows of no business are the platform's.
select keep_to_tenants('audit_event');
select keep_to_tenants('audit_link');
select keep_to_tenants('invitation');
