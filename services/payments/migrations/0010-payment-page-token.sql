-- Addresses of a payment's pages contain a token that is derived from return_token (pageTokenOf in
-- payment/page-token.ts), so that payments of earlier versions have one too. Before this migration,
-- create the index of a large table by hand with `create index concurrently`.
create unique index if not exists payment_page_token_key on payment (encode(sha256(return_token::bytea), 'hex'));
