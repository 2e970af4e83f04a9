import type { Pool } from 'pg';
import { STALE_AFTER } from '../rules/books.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';

const FRESH = `
  select array_agg(market_id || ':' || outcome_index) as fresh from data.books
  where provider = $1 and not is_dropped and source_ts >= $2`;
const OPEN = `
  select market_id from data.markets
  where provider = $1 and market_id = any ($2::text[]) and status in ('open', 'active')
    and (expires_at is null or expires_at > $3) order by market_id`;

/** Finds books of a live source that stopped changing: fresh at the last check, stale now, and their markets still trade. */
export class StaleBooks {
  private fresh: ReadonlySet<string> = new Set();

  constructor(
    private readonly pool: Pool,
    private readonly provider: Provider,
  ) {}

  /** The markets whose books became stale since the last check. `now` in microseconds. */
  async look(now: number): Promise<readonly string[]> {
    const shard = PROVIDERS.indexOf(this.provider);
    const { rows } = await this.pool.query<{ fresh: string[] | null }>(FRESH, [shard, now - STALE_AFTER]);
    const before = this.fresh;
    const fresh = new Set(rows[0]?.fresh);
    this.fresh = fresh;
    const gone = [...before].filter((book) => !fresh.has(book));
    if (gone.length === 0) return [];
    const markets = [...new Set(gone.map((book) => book.slice(0, book.lastIndexOf(':'))))];
    const open = await this.pool.query<{ market_id: string }>(OPEN, [shard, markets, now]);
    return open.rows.map(({ market_id }) => market_id);
  }

  /** Call it while the provider is paused: its books are not renewed on purpose. */
  forget(): void {
    this.fresh = new Set();
  }
}
