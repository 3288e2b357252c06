select keep_to_tenants('webhook_endpoint');
select keep_to_tenants('event');
select keep_to_tenants('delivery');
select keep_to_tenants('delivery_attempt');
select keep_to_tenants('endpoint_health');
select keep_to_tenants('webhook_replay');
select keep_tally_to_tenants('event_tally');
