import pg from "pg";

export const paidMinor = 500_000;

/**
 * Inserts `count` copies of a paid payment. Each copy has its own id and order. Returns the ids of
 * the copies.
 */
export async function copyPaidPayment(databaseUrl: string, paymentId: string, count: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ id: string }>(
    `insert into payment
     select (jsonb_populate_record(p, jsonb_build_object('id', uuidv7(), 'return_token', uuidv7(),
       'processor_order_number', lpad(i::text, 10, '0'), 'processor_order_id', 'BENCH00000' || lpad(i::text, 10, '0')))).*
     from payment p, generate_series(1, $2::int) i where p.id = $1 returning id`,
    [paymentId, count],
  );
  await client.query("vacuum (analyze) payment");
  await client.end();
  return rows.map(({ id }) => id);
}
