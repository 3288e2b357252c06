-- Why no answer came, as a word that programs can act upon; error says it to people. Older attempts have none.
alter table delivery_attempt add column failure text;
