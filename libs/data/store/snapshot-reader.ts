import type { Pool } from 'pg';
import { readMarket } from '../rules/event-codec.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';
import type { FoundMarket } from './market-reader.js';
import { SNAPSHOT_LASTS } from './snapshot-table.js';

/** Where the next page begins. */
export interface SnapshotPlace {
  readonly snapshot: number;
  /** The number of the last market on the previous page. */
  readonly after: number;
}

export interface SnapshotPage {
  /** By market id. */
  readonly markets: readonly FoundMarket[];
  readonly next: SnapshotPlace | undefined;
}

export interface PageWish {
  readonly limit: number;
  /** Without it, the first page of the newest snapshot. */
  readonly place?: SnapshotPlace | undefined;
}

/** `outdated`: the newest snapshot is too old. `expired`: the snapshot of the position has been deleted. */
export type SnapshotRead = SnapshotPage | 'outdated' | 'expired';

interface ReachRow {
  readonly newest_no: number | null;
  readonly newest_at: number | null;
  readonly asked_at: number | null;
  readonly after_id: string | null;
}

interface SnapshotRow {
  readonly market_no: number;
  readonly state: unknown;
}

export const SNAPSHOT_REACH = `
  select newest.snapshot_no as newest_no, newest.made_at as newest_at,
    (select made_at from data.snapshots where snapshot_no = $2 and provider = $1) as asked_at,
    (select market_id from data.markets where market_no = $3 and provider = $1) as after_id
  from (select) as once left join lateral (
    select snapshot_no, made_at from data.snapshots where provider = $1 order by snapshot_no desc limit 1
  ) as newest on true`;

export const SNAPSHOT_PAGE = `
  select market_no, state from data.snapshot_markets
  where provider = $1 and market_id > $2 and from_snapshot <= $3 and to_snapshot > $3
  order by market_id limit $4`;

/** Reads open markets from snapshots, so that all pages show the same moment. */
export class SnapshotReader {
  /** `maxAge` is the greatest age of the newest snapshot, in microseconds. */
  constructor(
    private readonly pool: Pool,
    private readonly maxAge: number,
  ) {}

  async page(provider: Provider, { limit, place }: PageWish, now: number): Promise<SnapshotRead> {
    const { newest_no, newest_at, asked_at, after_id } = await this.reach(provider, place);
    const isGone = asked_at === null || after_id === null || now - asked_at > SNAPSHOT_LASTS;
    if (place !== undefined && isGone) return 'expired';
    if (newest_no === null || newest_at === null || now - newest_at > this.maxAge) return 'outdated';
    const snapshot = place?.snapshot ?? newest_no;
    const rows = await this.rows(provider, { snapshot, after: after_id ?? '' }, limit + 1);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      markets: shown.map(({ market_no, state }) => ({ marketNo: market_no, state: readMarket(state) })),
      next: rows.length > limit && last !== undefined ? { snapshot, after: last.market_no } : undefined,
    };
  }

  private async reach(provider: Provider, place: SnapshotPlace | undefined): Promise<ReachRow> {
    const { rows } = await this.pool.query<ReachRow>({
      name: 'data-snapshot-reach',
      text: SNAPSHOT_REACH,
      values: [PROVIDERS.indexOf(provider), place?.snapshot ?? null, place?.after ?? null],
    });
    return rows[0] ?? { newest_no: null, newest_at: null, asked_at: null, after_id: null };
  }

  private async rows(
    provider: Provider,
    { snapshot, after }: { readonly snapshot: number; readonly after: string },
    limit: number,
  ): Promise<SnapshotRow[]> {
    const { rows } = await this.pool.query<SnapshotRow>({
      name: 'data-snapshot-page',
      text: SNAPSHOT_PAGE,
      values: [PROVIDERS.indexOf(provider), after, snapshot, limit],
    });
    return rows;
  }
}
