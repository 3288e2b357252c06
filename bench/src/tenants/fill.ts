import { createHash } from "node:crypto";
import type pg from "pg";

const uuidOf = (name: string) =>
  createHash("md5")
    .update(name)
    .digest("hex")
    .replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** Businesses of a thousand clients each, one of a hundred thousand, and many of a hundred. */
export const small = Array.from({ length: 20 }, (_, i) => uuidOf(`small ${i}`));
export const large = uuidOf("large");
const others = 1_000;

/** The id of one of a small business's clients. */
export const manyOf = (businessId: string, i: number): string => uuidOf(`${businessId} ${i % 1_000}`);

export async function fillClients(owner: pg.Client): Promise<void> {
  for (const businessId of small) await owner.query(clientsSql, [businessId, 1_000]);
  await owner.query(clientsSql, [large, 100_000]);
  for (let i = 0; i < others; i++) await owner.query(clientsSql, [uuidOf(`other ${i}`), 100]);
  await owner.query("vacuum (analyze)");
}

const clientsSql = `
  insert into client (id, business_id, first_name, last_name, date_of_birth, gender, birth_country, nationality,
    country_of_tax_residence, address, city, postcode, country_code, email, blocked, is_blacklisted,
    risk_level, kyc_level, kyc_status, created_at, updated_at)
  select md5($1::text || ' ' || i)::uuid, $1::uuid, 'Amina ' || to_hex(h / 7 % 4096),
    (array['Benali', 'Haddad', 'Bouzid', 'Cherif', 'Mansouri', 'Ziani', 'Omar', 'Kaci', 'Said', 'Amrani'])[1 + h / 10 % 10],
    '1990-05-17', 'female', 'DZA', 'DZA', 'DZA', '1 rue Didouche Mourad', 'Alger', '16000', 'DZA',
    'person' || i || '@example.dz', h % 97 = 0, h % 211 = 0, case when h % 8 = 0 then 'MEDIUM' else 'LOW' end, 'FULL_KYC',
    case when h % 5 = 0 then 'NOT_STARTED' else 'VALIDATED' end, now() - i * interval '30 seconds', now()
  from (select i, abs(hashint4(i)::bigint) as h from generate_series(0, $2::int - 1) i) numbered`;
