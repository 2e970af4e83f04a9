import { JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { compareShard, type Comparison, type Difference } from '#libs/journal/moving/compare-shard.js';
import type { StoreKind } from '#libs/journal/stores/journal-store.js';

/** Why a shard could not be compared to its end, and in which of the two stores that was. */
interface Trouble {
  readonly store: StoreKind;
  readonly what: string;
  readonly isDamage: boolean;
}

export type ComparedShard = { readonly shard: number } & (Comparison | Trouble);

/** Carries a reader's error together with the store that it came from. */
class InStore extends Error {
  constructor(readonly trouble: Trouble) {
    super(trouble.what);
  }
}

/** Compares each shard separately. One that cannot be read does not stop the others. */
export async function compareShards(
  stores: Readonly<Record<StoreKind, JournalReader>>,
  shards: readonly number[],
  tell: (shard: number, alike: number) => void,
): Promise<ComparedShard[]> {
  const [postgres, kafka] = [withStore('postgres', stores.postgres), withStore('kafka', stores.kafka)];
  const compared: ComparedShard[] = [];
  for (const shard of shards) {
    try {
      const comparison = await compareShard(shard, postgres, kafka, (alike) => {
        tell(shard, alike);
      });
      compared.push({ shard, ...comparison });
    } catch (error) {
      if (!(error instanceof InStore)) throw error;
      compared.push({ shard, ...error.trouble });
    }
  }
  return compared;
}

function withStore(store: StoreKind, reader: JournalReader): JournalReader {
  const rethrow = (error: unknown): never => {
    const isDamage = error instanceof JournalCorrupt;
    if (!isDamage && !(error instanceof JournalUnreadable)) throw error;
    throw new InStore({ store, what: error.message, isDamage });
  };
  return {
    read: (...args) => reader.read(...args).catch(rethrow),
    entries: (...args) => reader.entries(...args).catch(rethrow),
    heads: (shards) => reader.heads(shards).catch(rethrow),
  };
}

export function comparedDocument(compared: ComparedShard): object {
  const { shard } = compared;
  if ('what' in compared) return { shard, store: compared.store, trouble: compared.what };
  const { alike, surplus, differs } = compared;
  const only = { only_postgres: surplus.one, only_kafka: surplus.other };
  const difference = differs === undefined ? {} : { differs_at: differs.sequence, differs_in: differs.in };
  return { shard, alike, ...only, ...difference };
}

/** `one` is PostgreSQL, `other` is Kafka. */
function whatDiffers({ in: where, sealed: { one, other } }: Difference): string {
  if (where === 'record') return 'they are not the same record';
  if (one && other) return 'the same record has another seal in kafka than in postgres';
  return `the same record has a seal in ${one ? 'postgres' : 'kafka'} and none in ${one ? 'kafka' : 'postgres'}`;
}

export function comparedLine(compared: ComparedShard, home: StoreKind): string {
  const { shard } = compared;
  if ('what' in compared) {
    return `shard ${shard}: ${compared.isDamage ? 'DAMAGED' : 'NOT READ'} in ${compared.store}: ${compared.what}`;
  }
  const { alike, surplus, differs } = compared;
  if (differs !== undefined) {
    return `shard ${shard}: ${alike} records alike, then they DIFFER at sequence ${differs.sequence}: ${whatDiffers(differs)}`;
  }
  const lacks = isLacking(compared, home) ? `: the journals are in ${home}, which LACKS them` : '';
  return `shard ${shard}: ${alike} records alike; ${surplus.one} more in postgres, ${surplus.other} in kafka${lacks}`;
}

/** The store that the journals have left may end earlier. The store where they are kept must not. */
function isLacking({ surplus }: Comparison, home: StoreKind): boolean {
  return (home === 'kafka' ? surplus.one : surplus.other) > 0;
}

/**
 * Whether Kafka has no journals although there are some. A wrong topic prefix looks like a copy that was never begun, and so do
 * empty topics in place of the known ones.
 */
export function hasNoneInKafka(compared: readonly ComparedShard[], areKnown: boolean): boolean {
  const copies = compared.filter((one) => 'surplus' in one);
  const isNone = ({ alike, surplus, differs }: Comparison): boolean =>
    alike === 0 && surplus.other === 0 && differs === undefined;
  const areSome = areKnown || copies.some(({ surplus }) => surplus.one > 0);
  return copies.length === compared.length && copies.every(isNone) && areSome;
}

/** `alike` says that every shard could be read and does not differ. */
export function outcomeOf(
  compared: readonly ComparedShard[],
  home: StoreKind,
): 'alike' | 'unread' | 'damaged or different' {
  const isBad = compared.some((one) =>
    'what' in one ? one.isDamage : one.differs !== undefined || isLacking(one, home),
  );
  if (isBad) return 'damaged or different';
  return compared.some((one) => 'what' in one) ? 'unread' : 'alike';
}
