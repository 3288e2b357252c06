-- What is due is found by its time, whoever it is for: with a thousand endpoints that wait, a claim that steps through all
-- of them takes tens of milliseconds, and most often a few deliveries are due. The words stand in another order than in
-- delivery_due, so that a look for one endpoint's deliveries never walks over everybody's.
create index if not exists delivery_due_at on delivery (greatest(leased_until, next_attempt_at)) where status = 'PENDING';
