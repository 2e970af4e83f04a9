import type pg from 'pg';

/** The number of sums of accounts whose reservations exceed the evidence. */
export async function overReserved(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ over: string }>(
    `select count(*) as over from risk.reserved join risk.evidence using (account_id, venue, resource, asset)
     where shard_0 + shard_1 + shard_2 > amount`,
  );
  return Number(rows[0]?.over ?? 0);
}
