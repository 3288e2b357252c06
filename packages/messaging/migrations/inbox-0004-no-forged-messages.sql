-- Messages without a good MAC are counted and logged, not stored any more. A former version that still runs stores some,
-- and counts them without this index. They are deleted after 30 days. The column failure is not read any more.
drop index if exists dead_letter_forged;
