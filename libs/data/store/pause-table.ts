import type { Pool } from 'pg';
import { PROVIDERS, type Provider } from '../rules/providers.js';

/**
 * Stores which providers operators have paused: their events are journaled but not projected. Gateways write it, ingest reads it.
 */
export class PauseTable {
  constructor(private readonly pool: Pool) {}

  async paused(): Promise<Set<Provider>> {
    const { rows } = await this.pool.query<{ provider: number }>('select provider from data.pauses');
    return new Set(rows.flatMap(({ provider }) => PROVIDERS[provider] ?? []));
  }

  async pause(provider: Provider): Promise<void> {
    await this.pool.query('insert into data.pauses (provider) values ($1) on conflict do nothing', [
      PROVIDERS.indexOf(provider),
    ]);
  }

  async resume(provider: Provider): Promise<void> {
    await this.pool.query('delete from data.pauses where provider = $1', [PROVIDERS.indexOf(provider)]);
  }
}
