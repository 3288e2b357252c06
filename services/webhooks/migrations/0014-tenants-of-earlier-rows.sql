-- Rows from before there were partitions: this role may read their tables by name. Later partitions are nobody's but through the table.
select keep_to_tenants('event_earlier');
select keep_to_tenants('delivery_attempt_earlier');
