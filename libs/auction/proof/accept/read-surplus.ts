import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import type { Surplus } from '#libs/journal/restored/restored-check.js';
import type { RestoredEnd } from '#libs/journal/restored/restored-mark.js';
import { JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { Objection } from '../by-the-rules.js';
import { examineShards } from '../examine-shards.js';
import { LedgerProof } from '../ledger/ledger-proof.js';
import { ALL_SHARDS, type Place } from '../place.js';
import { HeldByJournal } from '../reservations.js';
import { EndsBehind } from './ends-behind.js';

export interface ShardSurplus {
  readonly shard: number;
  /** The last record that the database knew. `end` is the last one in the journal. */
  readonly known: number;
  readonly end: RestoredEnd;
  readonly ends: EndsBehind;
  readonly held: HeldByJournal;
  /** Why nothing can be settled by this journal; empty if it is sound. */
  readonly faults: readonly string[];
}

export interface SurplusRead {
  readonly shards: readonly ShardSurplus[];
  /** Has checked all awards whose end the backup knew. */
  readonly proof: LedgerProof;
}

/** Reads all journals completely, as a verification does, because money is moved according to them. */
export async function readSurplus(
  ports: Pick<Place, 'pool' | 'clock' | 'seals'> & { readonly tell: (line: string) => void },
  store: JournalStore,
  surplus: readonly Surplus[],
): Promise<SurplusRead> {
  const proof = new LedgerProof();
  const readers = ALL_SHARDS.map((shard) => {
    const known = surplus.find((one) => one.shard === shard)?.sequence ?? 0;
    const ends = new EndsBehind(shard, known);
    const held = new HeldByJournal(shard, (position, event, after) => {
      ends.take(position, event, after);
      if (position > known) proof.award(event);
      else proof.take(shard, position, event, after);
    });
    return { shard, known, ends, held };
  });
  const held = readers.map((one) => one.held);
  // The restored mark names the database, so incarnations are not checked. The records that the backup knew must be right.
  const scope = { family: 'auction' as const, isHome: true, isInUse: true, isOurs: false, byRules: true };
  const examined = await examineShards({ ...ports, ...scope, store, held, proof });
  const shards = examined.map(({ shard, head, faults, rules, unread }, index): ShardSurplus => {
    const one = readers[index];
    if (one === undefined || unread !== undefined) throw new JournalUnreadable(unread ?? 'it was not read');
    const objections = rules?.objections.map(objectionText) ?? [];
    const { sequence, hash } = head;
    return { ...one, end: { shard, sequence, hash }, faults: [...faults, ...objections] };
  });
  return { shards, proof };
}

function objectionText({ sequence, what }: Objection): string {
  return `record ${sequence} breaks the rules: ${what}`;
}
