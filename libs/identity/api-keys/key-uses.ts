import type { Pool } from 'pg';
import { NANOS_PER_SECOND } from '#libs/base/instant.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { epochMillis, MINUTE_S } from '../epoch.js';
import { quickly } from '../quick-query.js';

/** Uses of this time are written together. */
const BATCH_MS = 1_000;
const MAX_REMEMBERED = 50_000;

const WRITE = `
  insert into identity.api_key_uses (client_id, last_used_at)
  select used, to_timestamp($2) from unnest($1::text[]) used
  on conflict (client_id) do update set last_used_at = excluded.last_used_at
  where api_key_uses.last_used_at <= excluded.last_used_at - interval '1 minute'`;

/** Records when keys were last used, at most once a minute each. A failed write refuses no caller. */
export class KeyUses {
  private readonly writtenAt = new Map<string, bigint>();
  private readonly due = new Set<string>();
  private cancel: Cancel | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly clock: Clock,
  ) {}

  note(client_id: string): void {
    const now = this.clock.monotonicNanos();
    const last = this.writtenAt.get(client_id);
    if (last !== undefined && now - last < BigInt(MINUTE_S) * NANOS_PER_SECOND) return;
    if (this.writtenAt.size >= MAX_REMEMBERED) this.writtenAt.clear();
    this.writtenAt.set(client_id, now);
    this.due.add(client_id);
    this.cancel ??= this.clock.after(BATCH_MS, () => void this.flush().catch(() => undefined));
  }

  async flush(): Promise<void> {
    this.cancel?.();
    this.cancel = undefined;
    if (this.due.size === 0) return;
    const values = [[...this.due].sort(), epochMillis(this.clock) / 1_000];
    this.due.clear();
    await this.pool.query(quickly({ name: 'api-key-uses', text: WRITE, values }));
  }
}
