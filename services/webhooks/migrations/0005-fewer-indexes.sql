-- Each index costs on every event, and delivery's twice for each delivery. Ids of events say when they were made, so old
-- ones are found by the primary key; an event's deliveries by the unique index that begins with the event.
drop index event_created;
drop index delivery_business_event;
