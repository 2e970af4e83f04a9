import type { Pool } from 'pg';

/** Whether everything that the sources held at the start is projected. Ingest writes it; gateways read it for their readiness. */
export class StartTable {
  constructor(private readonly pool: Pool) {}

  /** While ingest is down, its last value holds. */
  async isProjected(): Promise<boolean> {
    const { rows } = await this.pool.query<{ is_projected: boolean }>('select is_projected from data.start');
    return rows[0]?.is_projected ?? false;
  }

  async write(isProjected: boolean): Promise<void> {
    await this.pool.query(
      'insert into data.start (is_projected) values ($1) on conflict (only_one) do update set is_projected = excluded.is_projected',
      [isProjected],
    );
  }
}
