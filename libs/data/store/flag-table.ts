import type { Pool } from 'pg';
import { flagNamed, type FlagName, type FlagSetting, type FlagSettings } from '../rules/flags.js';

interface FlagRow {
  readonly name: string;
  readonly enabled: boolean;
  readonly reason: string | null;
  readonly updated_at: number;
}

/** Stores the flags that operators have set. A flag without a row has its default. */
export class FlagTable {
  constructor(private readonly pool: Pool) {}

  async all(): Promise<FlagSettings> {
    const { rows } = await this.pool.query<FlagRow>({
      name: 'data-flags',
      text: 'select name, enabled, reason, updated_at from data.flags',
    });
    return new Map(
      rows.flatMap(({ name, enabled, reason, updated_at: updatedAt }) => {
        const known = flagNamed(name);
        return known === undefined ? [] : [[known, { enabled, reason, updatedAt }] as const];
      }),
    );
  }

  async set(name: FlagName, { enabled, reason, updatedAt }: FlagSetting): Promise<void> {
    await this.pool.query(
      `insert into data.flags (name, enabled, reason, updated_at) values ($1, $2, $3, $4)
       on conflict (name) do update set enabled = excluded.enabled, reason = excluded.reason, updated_at = excluded.updated_at`,
      [name, enabled, reason, updatedAt],
    );
  }

  async remove(name: FlagName): Promise<void> {
    await this.pool.query('delete from data.flags where name = $1', [name]);
  }
}
