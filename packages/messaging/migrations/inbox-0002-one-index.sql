-- Ids of events say when they were made, so old rows are found by the primary key; each index costs on every event.
drop index if exists inbox_received_at;
