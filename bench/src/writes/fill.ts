import { Client } from "pg";

const businesses = 100;
/** One business in a hundred has a fifth of everything. */
const largestShare = 0.2;
const perStatement = 50_000;

const firstNames = ["Amina", "Yacine", "Fatima", "Karim", "Nadia", "Sofiane", "Leïla", "Omar", "أمينة", "ياسين"];
const lastNames = ["Benali", "Haddad", "Bouzid", "Cherif", "Mansouri", "Saïdi", "Ziani", "Belkacem", "بن علي", "حداد"];

/**
 * Brings a clients database to `total` clients, and as many beneficiaries, over a hundred
 * businesses; `largest` has a fifth.
 */
export async function fill(databaseUrl: string, largest: string, total: number): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ n: number }>("select count(*)::int as n from client");
    for (let from = rows[0]?.n ?? 0; from < total; from += perStatement) {
      await client.query(clientsSql, [
        from,
        Math.min(perStatement, total - from),
        largest,
        Math.round(largestShare * 100),
        businesses,
        firstNames,
        lastNames,
      ]);
    }
    await client.query("vacuum (analyze)");
  } finally {
    await client.end();
  }
}

const clientsSql = `
  with added as (
    insert into client (id, business_id, first_name, last_name, date_of_birth, gender, birth_country, nationality,
      country_of_tax_residence, address, city, postcode, country_code, email, external_client_code, blocked, is_blacklisted,
      risk_level, kyc_level, kyc_status, created_at, updated_at)
    select uuidv7(made - now()), case when i % 100 < $4 then $3::uuid else md5('business ' || i % $5)::uuid end,
      ($6::text[])[1 + h % 10] || ' ' || to_hex(h / 7 % 4096), ($7::text[])[1 + h / 10 % 10] || ' ' || to_hex(h / 13 % 4096),
      '1990-05-17', 'female', 'DZA', 'DZA', 'DZA', '1 rue Didouche Mourad', 'Alger', '16000', 'DZA',
      'person' || i || '@example.dz', 'code-' || i, h % 97 = 0, h % 211 = 0,
      case when h % 53 = 0 then 'HIGH' when h % 8 = 0 then 'MEDIUM' else 'LOW' end, 'FULL_KYC',
      case when h % 89 = 0 then 'DECLINED' when h % 5 = 0 then 'NOT_STARTED' when h % 7 = 0 then 'PROCESSING' else 'VALIDATED' end,
      made, made
    from (
      select i, abs(hashint4(i)::bigint) as h, now() - interval '1 year' + i * interval '30 seconds' as made
      from generate_series($1::int, $1 + $2 - 1) i
    ) n
    returning id, business_id, created_at, external_client_code
  )
  insert into beneficiary (id, business_id, client_id, type, name, display, iban, account_number, country_code, created_at, updated_at)
  select uuidv7(created_at - now()), business_id, id, case when h % 7 = 0 then 'COMPANY' else 'PERSON' end,
    ($7::text[])[1 + h % 10] || ' ' || ($6::text[])[1 + h / 10 % 10] || ' ' || to_hex(i % 65536), h % 20 <> 0,
    case when h % 4 <> 0 then 'FR76' || lpad((i * 7919::bigint)::text, 23, '0') end,
    case when h % 4 = 0 then lpad((i * 6151::bigint)::text, 12, '0') end,
    case when h % 41 = 0 then 'TUN' when h % 5 = 0 then 'FRA' else 'DZA' end, created_at, created_at
  from (
    select *, abs(hashint4(i)::bigint) as h from (select *, substr(external_client_code, 6)::int as i from added) numbered
  ) hashed`;
