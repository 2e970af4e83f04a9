import type { Pool } from 'pg';

/** Whether all is projected that the sources held at the start. Ingest says it, and who answers readers begins with it. */
export class StartTable {
  constructor(private readonly pool: Pool) {}

  /** Also while ingest is away: what it had said before is what there is. */
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
