/**
 * Selects the secret that X-Signature is keyed with now, and the other one of a rotation, from webhook_endpoint `e`: before
 * the new one becomes active that is the new one, afterwards the previous one, for a day after the rotation.
 */
export const signingSecrets = `
  case when e.secret_active_from > now() then e.previous_secret_ciphertext else e.secret_ciphertext end as secret_ciphertext,
  case when e.secret_active_from > now() then e.secret_ciphertext
    when e.previous_secret_until > now() then e.previous_secret_ciphertext end as other_secret_ciphertext`;
