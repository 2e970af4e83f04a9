import type { Pool } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import type { WriteDown } from './api-key-service.js';
import type { AccessState, ApiKeyWatch } from './api-key-watch.js';

/** Whether calls with API keys may reach a provider now. */
export interface AccessFlags {
  accessOf(provider: string): AccessState;
}

const SET = `
  insert into identity.api_access (provider, enabled, set_by, reason) values ($1, $2, $3, $4)
  on conflict (provider) do update set enabled = excluded.enabled, set_by = excluded.set_by,
    reason = excluded.reason, set_at = clock_timestamp()`;

/** `enabled` is null while the access is unknown, which allows no calls. */
export interface AccessDecision {
  readonly provider: string;
  readonly enabled: boolean | null;
  readonly by: string;
  readonly reason: string;
}

export class ProviderAccessBook implements AccessFlags {
  constructor(
    private readonly pool: Pool,
    private readonly watch: ApiKeyWatch,
  ) {}

  accessOf(provider: string): AccessState {
    return this.watch.accessOf(provider);
  }

  async set({ provider, enabled, by, reason }: AccessDecision, recordAction: WriteDown): Promise<void> {
    await withTransaction(this.pool, 'read committed', async (client) => {
      await client.query(SET, [provider, enabled, by, reason]);
      await recordAction(client);
    });
    await this.watch.refresh().catch(() => undefined);
  }
}
