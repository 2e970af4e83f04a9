import type { Pool } from 'pg';
import { PROVIDERS, type Provider } from '../rules/providers.js';

export interface WantedBackfill {
  readonly provider: Provider;
  /** Microseconds. */
  readonly from: number;
  /** Undefined means until now. */
  readonly to: number | undefined;
}

/** Spans that operators want to be read again. Gateways write them, ingest takes them. */
export class BackfillTable {
  constructor(private readonly pool: Pool) {}

  async add({ provider, from, to }: WantedBackfill): Promise<void> {
    await this.pool.query('insert into data.backfills (provider, from_ts, to_ts) values ($1, $2, $3)', [
      ...[PROVIDERS.indexOf(provider), from, to ?? null],
    ]);
  }

  /** Returns and deletes all of them. */
  async take(): Promise<WantedBackfill[]> {
    const { rows } = await this.pool.query<{ provider: number; from_ts: number; to_ts: number | null }>(
      'delete from data.backfills returning provider, from_ts, to_ts',
    );
    return rows.flatMap(({ provider, from_ts, to_ts }) => {
      const named = PROVIDERS[provider];
      return named === undefined ? [] : [{ provider: named, from: from_ts, to: to_ts ?? undefined }];
    });
  }
}
