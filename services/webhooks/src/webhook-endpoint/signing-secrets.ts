/**
 * Selects, from webhook_endpoint `e`, the secret that X-Signature is keyed with now and the other
 * one of a rotation: the new one until it becomes active, then the previous one, for a day in all.
 */
export const signingSecrets = `
  case when e.secret_active_from > now() then e.previous_secret_ciphertext else e.secret_ciphertext end as secret_ciphertext,
  case when e.secret_active_from > now() then e.secret_ciphertext
    when e.previous_secret_until > now() then e.previous_secret_ciphertext end as other_secret_ciphertext`;
