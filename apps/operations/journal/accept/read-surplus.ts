import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import type { Surplus } from '#libs/journal/restored/restored-check.js';
import type { RestoredEnd } from '#libs/journal/restored/restored-mark.js';
import { ByTheRules } from '../by-the-rules.js';
import { LedgerProof } from '../ledger/ledger-proof.js';
import { marksOf, reservingEpochs, sealedFromOf } from '../marks.js';
import { ALL_SHARDS, type Place } from '../place.js';
import { Progress } from '../progress.js';
import { HeldByJournal } from '../reservations.js';
import { SealCheck } from '../seal-check.js';
import { walkShard } from '../walk-shard.js';
import { EndsBehind } from './ends-behind.js';

export interface ShardSurplus {
  readonly shard: number;
  /** The last record that the database knew, and the last one that there is. */
  readonly known: number;
  readonly end: RestoredEnd;
  readonly ends: EndsBehind;
  readonly held: HeldByJournal;
  /** Why the journal is not one to settle anything by; empty where it is. */
  readonly faults: readonly string[];
}

export interface SurplusRead {
  readonly shards: readonly ShardSurplus[];
  /** Has looked at all awards that the backup knew the end of. */
  readonly proof: LedgerProof;
}

/** Reads all journals from their first record to their last, as a verification does, for money is moved by what they say. */
export async function readSurplus(
  {
    pool,
    clock,
    seals,
    tell,
  }: Pick<Place, 'pool' | 'clock' | 'seals'> & { readonly tell: (line: string) => void },
  store: JournalStore,
  surplus: readonly Surplus[],
): Promise<SurplusRead> {
  const marks = await marksOf(pool, store.kind);
  const epochs = await reservingEpochs(pool);
  const sealedFrom = await sealedFromOf(pool);
  const progress = new Progress(clock, tell);
  const proof = new LedgerProof();
  const shards: ShardSurplus[] = [];
  for (const shard of ALL_SHARDS) {
    const known = surplus.find((one) => one.shard === shard)?.sequence ?? 0;
    const ends = new EndsBehind(shard, known);
    const held = new HeldByJournal(shard, (position, event, after) => {
      ends.take(position, event, after);
      if (position > known) proof.award(event);
      else proof.take(shard, position, event, after);
    });
    const rules = new ByTheRules(shard);
    const sealed = new SealCheck({ seals, sealedFrom: sealedFrom.get(shard) });
    const walk = await walkShard(shard, {
      reader: store.bareReader,
      marks: marks.filter((mark) => mark.shard === shard),
      reservingEpoch: epochs.get(shard) ?? 0,
      tell: (read) => {
        progress.tell(`shard ${shard}: ${read} records read`);
      },
      onEntries: (entries) => {
        rules.take(entries);
        sealed.take(entries);
        held.take(entries);
      },
      onPage: () => proof.look(pool),
    });
    sealed.end();
    const { sequence, hash } = walk.head;
    const faults = [...walk.faults, ...sealed.faults, ...rules.told.objections.map(objectionText)];
    shards.push({ shard, known, end: { shard, sequence, hash }, ends, held, faults });
  }
  return { shards, proof };
}

function objectionText({ sequence, what }: ByTheRules['told']['objections'][number]): string {
  return `record ${sequence} is not by the rules: ${what}`;
}
