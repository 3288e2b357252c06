import type { Pool } from "pg";

/** The rows of a payment and its refunds at one moment. */
export interface Rows {
  readonly payment: Readonly<Record<string, unknown>>;
  readonly refunds: readonly Readonly<Record<string, unknown>>[];
}

export async function readRows(database: Pool, paymentId: string): Promise<Rows> {
  const { rows } = await database.query<Rows>(
    `select to_jsonb(p) as payment,
       coalesce((select jsonb_agg(r order by r.created_at) from refund r where r.payment_id = p.id), '[]') as refunds
     from payment p where p.id = $1`,
    [paymentId],
  );
  if (!rows[0]) throw new Error(`payment ${paymentId} does not exist`);
  return rows[0];
}

/** Resets the rows to an earlier state, like a failover that has lost the newest commits. */
export async function rollBackRows(database: Pool, { payment, refunds }: Rows): Promise<void> {
  const connection = await database.connect();
  try {
    await connection.query("begin");
    await connection.query("select 1 from payment where id = $1 for update", [payment["id"]]);
    await connection.query("delete from refund where payment_id = $1", [payment["id"]]);
    await connection.query("delete from payment where id = $1", [payment["id"]]);
    await connection.query("insert into payment select * from jsonb_populate_record(null::payment, $1)", [
      JSON.stringify(payment),
    ]);
    await connection.query("insert into refund select * from jsonb_populate_recordset(null::refund, $1)", [
      JSON.stringify(refunds),
    ]);
    await connection.query("commit");
  } finally {
    // Closes the connection. This also ends the transaction if a statement failed.
    connection.release(true);
  }
}
