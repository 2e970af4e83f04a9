import type { ClientBase } from 'pg';
import type { AuctionEvent } from '../../rules/events.js';
import type { AuctionState } from '../../rules/state.js';
import type { AwardToSettle } from '../../settlement/settlement.js';
import { AwardSet } from './award-set.js';
import { awardIn, endBy, type JournaledEnd } from './journaled-end.js';
import { faultIn, type LedgerRow } from './settled-entries.js';

export type LedgerQueries = Pick<ClientBase, 'query'>;

/** One fault is often followed by others like it, so the first ones are enough. */
const KEPT = 50;
const PAGE = 1_000;
const SETTLEMENTS_PAGE = 20_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const OUTCOMES = `
  select s.award_id, s.outcome, s.venue, s.asset, s.delivered_atoms, s.transaction_id::text, t.kind, coalesce(e.entries, '[]') as entries
  from unnest($1::uuid[]) as said (award_id)
  join custody.settlements s using (award_id)
  left join custody.transactions t using (transaction_id)
  left join lateral (
    select jsonb_agg(jsonb_build_array(account_id, venue, asset, amount)) as entries
    from custody.entries where transaction_id = s.transaction_id
  ) e on true`;
const SETTLEMENTS = `
  select award_id, outcome, transaction_id::text from custody.settlements
  where award_id > $1 order by award_id limit ${SETTLEMENTS_PAGE}`;

export interface StoredSettlement {
  readonly award_id: string;
  readonly outcome: string;
  readonly transaction_id: string | null;
}

/**
 * Compares the outcomes of awards in the ledger with the journals, page by page as they are read. An award is settled before its
 * end is journaled, and its outcome never changes. Only the ids of awards are kept.
 */
export class LedgerProof {
  private readonly awarded = new AwardSet();
  private readonly found: string[] = [];
  private waiting: JournaledEnd[] = [];
  private count = 0;
  private checked = 0;

  /** Number of ends of awards that were checked. */
  get ended(): number {
    return this.checked;
  }

  get faults(): readonly string[] {
    const more = this.count - this.found.length;
    return more === 0 ? this.found : [...this.found, `and ${more} more awards that differ`];
  }

  award(event: AuctionEvent): void {
    if (event.type !== 'AUCTION_AWARDED') return;
    for (const { award_id: id } of event.data.awards) this.awarded.add(id);
  }

  take(shard: number, sequence: number, event: AuctionEvent, after: AuctionState): void {
    this.award(event);
    const end = endBy(shard, sequence, event, after);
    if (end !== undefined) this.expect(end);
  }

  /** The end is checked with the next page. */
  expect(end: JournaledEnd): void {
    this.waiting.push(end);
  }

  async look(database: LedgerQueries): Promise<void> {
    const ends = this.waiting;
    this.waiting = [];
    for (let from = 0; from < ends.length; from += PAGE) {
      const page = ends.slice(from, from + PAGE);
      const rows = await outcomesOf(database, page.map(awardIn));
      for (const end of page) {
        this.checked += 1;
        const difference = faultOf(end, rows.get(awardIn(end)));
        if (difference !== undefined)
          this.addFault(`${difference}: see record ${end.sequence} of shard ${end.shard}`);
      }
    }
  }

  /** An award without a journaled end may already be settled in the ledger. That settlement must be right too. */
  async lookAtPending(database: LedgerQueries, pending: readonly AwardToSettle[]): Promise<void> {
    for (let from = 0; from < pending.length; from += PAGE) {
      const page = pending.slice(from, from + PAGE);
      const rows = await outcomesOf(
        database,
        page.map(({ award_id: id }) => id),
      );
      for (const award of page) {
        const row = rows.get(award.award_id);
        const difference = row?.outcome === 'SETTLED' ? faultIn(row, award, undefined) : undefined;
        if (difference !== undefined)
          this.addFault(
            `award ${award.award_id}: ${difference}: see auction ${award.auction_id}, which is not over`,
          );
      }
    }
  }

  /** Outcomes in the ledger for awards of these shards that no journal has named: the first of them, and how many there are. */
  async unknown(
    database: LedgerQueries,
    isInScope: (awardId: string) => boolean,
  ): Promise<{ readonly first: readonly StoredSettlement[]; readonly count: number }> {
    const first: StoredSettlement[] = [];
    let count = 0;
    for (let after = BEFORE_ALL; ;) {
      const { rows } = await database.query<StoredSettlement>(SETTLEMENTS, [after]);
      for (const row of rows) {
        if (!isInScope(row.award_id) || this.awarded.has(row.award_id)) continue;
        count += 1;
        if (first.length < KEPT) first.push(row);
      }
      const last = rows.at(-1);
      if (last === undefined) return { first, count };
      after = last.award_id;
    }
  }

  private addFault(fault: string): void {
    this.count += 1;
    if (this.found.length < KEPT) this.found.push(fault);
  }
}

async function outcomesOf(database: LedgerQueries, ids: readonly string[]): Promise<Map<string, LedgerRow>> {
  const { rows } = await database.query<LedgerRow>(OUTCOMES, [ids]);
  return new Map(rows.map((row) => [row.award_id, row]));
}

function faultOf(end: JournaledEnd, row: LedgerRow | undefined): string | undefined {
  const award = `award ${awardIn(end)}`;
  if (row?.outcome !== end.outcome) {
    return `${award} is ${end.outcome} in the journal, ${row?.outcome ?? 'nothing'} in the ledger`;
  }
  if (end.outcome === 'FAILED') return undefined;
  if (end.told === undefined) return `${award}: its record does not say how it was settled`;
  const difference = faultIn(row, end.award, end.told);
  return difference === undefined ? undefined : `${award}: ${difference}`;
}
