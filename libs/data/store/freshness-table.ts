import type { Pool } from 'pg';
import { PROVIDERS, type Provider } from '../rules/providers.js';

export type IngestState = 'running' | 'paused' | 'failed';

/** How far a provider is read and applied, as readers see it. */
export interface IngestProgress {
  readonly source: string | null;
  readonly state: IngestState;
  /** No live source feeds it, so it is never stale. */
  readonly isRecorded: boolean;
  /** The last body of the venue was not valid. */
  readonly isQuarantined: boolean;
  /** The time up to which everything is applied. */
  readonly asOf: number | null;
  readonly newestSourceTs: number | null;
  readonly journalHead: number;
  readonly applied: number;
  readonly lagEvents: number;
  /** The number of gaps between trades. */
  readonly gaps: number;
  readonly conflicts: number;
  readonly quarantined: number;
  /** From when the source is complete: the listing, or a time that was backfilled to. */
  readonly reachesListing: boolean;
  readonly reachesFrom: number | null;
}

interface FreshnessRow {
  readonly provider: number;
  readonly source: string | null;
  readonly state: IngestState;
  readonly is_recorded: boolean;
  readonly is_quarantined: boolean;
  readonly as_of: number | null;
  readonly newest_source_ts: number | null;
  readonly journal_head: number;
  readonly applied: number;
  readonly lag_events: number;
  readonly gaps: number;
  readonly conflicts: number;
  readonly quarantined: number;
  readonly reaches_listing: boolean;
  readonly reaches_from: number | null;
}

export class FreshnessTable {
  constructor(private readonly pool: Pool) {}

  async all(): Promise<Map<Provider, IngestProgress>> {
    const { rows } = await this.pool.query<FreshnessRow>('select * from data.freshness order by provider');
    return new Map(
      rows.flatMap((row) => {
        const provider = PROVIDERS[row.provider];
        return provider === undefined ? [] : [[provider, freshnessOf(row)] as const];
      }),
    );
  }

  async write(provider: Provider, of: IngestProgress): Promise<void> {
    await this.pool.query({
      name: 'data-freshness',
      text: `
        insert into data.freshness as known (provider, source, state, is_recorded, is_quarantined, as_of, newest_source_ts,
          journal_head, applied, lag_events, gaps, conflicts, quarantined, reaches_listing, reaches_from)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
        on conflict (provider) do update set source = excluded.source, state = excluded.state, is_recorded = excluded.is_recorded,
          is_quarantined = excluded.is_quarantined, as_of = excluded.as_of, newest_source_ts = excluded.newest_source_ts,
          journal_head = excluded.journal_head, applied = excluded.applied, lag_events = excluded.lag_events,
          gaps = excluded.gaps, conflicts = excluded.conflicts, quarantined = excluded.quarantined,
          reaches_listing = excluded.reaches_listing, reaches_from = excluded.reaches_from`,
      values: [
        ...[PROVIDERS.indexOf(provider), of.source, of.state, of.isRecorded, of.isQuarantined, of.asOf],
        ...[
          of.newestSourceTs,
          of.journalHead,
          of.applied,
          of.lagEvents,
          of.gaps,
          of.conflicts,
          of.quarantined,
        ],
        ...[of.reachesListing, of.reachesFrom],
      ],
    });
  }
}

function freshnessOf(row: FreshnessRow): IngestProgress {
  return {
    ...{
      source: row.source,
      state: row.state,
      isRecorded: row.is_recorded,
      isQuarantined: row.is_quarantined,
    },
    ...{ asOf: row.as_of, newestSourceTs: row.newest_source_ts, journalHead: row.journal_head },
    ...{ applied: row.applied, lagEvents: row.lag_events, gaps: row.gaps, conflicts: row.conflicts },
    ...{ quarantined: row.quarantined, reachesListing: row.reaches_listing, reachesFrom: row.reaches_from },
  };
}
