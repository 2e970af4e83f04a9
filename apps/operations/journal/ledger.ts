import type { ClientBase } from 'pg';
import { decodeEvent } from '#libs/auction/upcasters.js';
import { IS_SPOILED, UNSPOKEN } from '#libs/custody/stated-amount.js';
import type { JournalEntry } from '#libs/journal/journal.js';

export interface LedgerCheck {
  /** Awards of which the journals say how they ended. */
  readonly ended: number;
  /** In the words of an operator; empty where journals, ledger and evidence agree. */
  readonly faults: readonly string[];
}

/** How awards ended, as the journals say. */
export class EndsByJournal {
  private readonly outcomes = new Map<string, 'SETTLED' | 'FAILED'>();
  private readonly awarded: string[] = [];

  take(entries: readonly JournalEntry[]): void {
    for (const { kind, payload } of entries) {
      if (kind !== 'event') continue;
      const event = decodeEvent(payload);
      if (event.type === 'AUCTION_AWARDED')
        this.awarded.push(...event.data.awards.map((award) => award.award_id));
      if (event.type === 'EXECUTION_CONFIRMED') this.outcomes.set(event.data.award_id, 'SETTLED');
      if (event.type === 'EXECUTION_FAILED') this.outcomes.set(event.data.award_id, 'FAILED');
    }
  }

  get all(): ReadonlyMap<string, string> {
    return this.outcomes;
  }

  get awards(): readonly string[] {
    return this.awarded;
  }
}

const DIFFERING = `
  select said.award_id, said.outcome as journal, coalesce(s.outcome, 'nothing') as ledger
  from unnest($1::uuid[], $2::text[]) as said (award_id, outcome)
  left join custody.settlements s using (award_id)
  where s.outcome is distinct from said.outcome order by 1 limit 20`;
const INVENTED = `
  select award_id from custody.settlements
  where left(award_id::text, 1) = any ($2::text[]) and award_id <> all ($1::uuid[]) order by 1 limit 20`;
const UNBALANCED = `
  select transaction_id::text from custody.entries
  group by transaction_id, venue, asset having sum(amount) <> 0 order by 1 limit 20`;
const DRIFTED = `
  select coalesce(b.account_id, e.account_id) || ' ' || coalesce(b.venue, e.venue) || ' ' || coalesce(b.asset, e.asset) as what
  from custody.balances b
  full join (select account_id, venue, asset, sum(amount) as amount from custody.entries group by 1, 2, 3) e
    using (account_id, venue, asset)
  where coalesce(b.amount, 0) <> coalesce(e.amount, 0) order by 1 limit 20`;
const UNFOUNDED = `
  select concat_ws(' ', account_id, nullif(venue, ''), resource, nullif(asset, '')) as what
  from risk.evidence v where ${IS_SPOILED} order by 1 limit 20`;
const UNVOUCHED = `
  select concat_ws(' ', account_id, nullif(venue, ''), nullif(asset, '')) as what from (${UNSPOKEN}) as u order by 1 limit 20`;

/**
 * Asked after the journals were read, so it holds while all goes on as well: an award is settled before it is reported, and what
 * the ledger says of it never changes. Entries, balances and evidence change in one transaction. That the ledger knows no award
 * but those of the journals can be said of `stillShards` alone, whose owners do not run.
 */
export async function checkLedger(
  database: Pick<ClientBase, 'query'>,
  ends: EndsByJournal,
  stillShards: readonly number[] = [],
): Promise<LedgerCheck> {
  const outcomes = [...ends.all];
  const differing = await database.query<{ award_id: string; journal: string; ledger: string }>(DIFFERING, [
    outcomes.map(([award]) => award),
    outcomes.map(([, outcome]) => outcome),
  ]);
  const invented = await database.query<{ award_id: string }>(INVENTED, [
    ends.awards,
    stillShards.map(String),
  ]);
  const unbalanced = await database.query<{ transaction_id: string }>(UNBALANCED);
  const drifted = await database.query<{ what: string }>(DRIFTED);
  const unfounded = await database.query<{ what: string }>(UNFOUNDED);
  const unvouched = await database.query<{ what: string }>(UNVOUCHED);
  return {
    ended: outcomes.length,
    faults: [
      ...differing.rows.map(
        ({ award_id: award, journal, ledger }) =>
          `award ${award} is ${journal} in the journal, ${ledger} in the ledger`,
      ),
      ...invented.rows.map(
        ({ award_id: award }) => `award ${award} is in the ledger, and no journal knows it`,
      ),
      ...unbalanced.rows.map(({ transaction_id: id }) => `entries of transaction ${id} do not balance`),
      ...drifted.rows.map(({ what }) => `the balance of ${what} is not the sum of its entries`),
      ...unfounded.rows.map(({ what }) => `the evidence for ${what} is not what the ledger says`),
      ...unvouched.rows.map(({ what }) => `there is no evidence for ${what}, of which the ledger knows`),
    ],
  };
}
