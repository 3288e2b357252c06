-- Metadata of the link at the start of the payment, for the events of the payment.
alter table payment add column link_metadata text;
