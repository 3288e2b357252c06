-- Until then X-Signature goes on with the previous secret.
alter table webhook_endpoint add column secret_active_from timestamptz(3);
