import type { JournalEntry } from '#libs/journal/journal.js';
import { messageOf } from '#libs/journal/journal-errors.js';
import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import { ByTheRules, type Rules } from './by-the-rules.js';
import { type HistoryCheck, HistoryProof } from './histories.js';
import type { LedgerProof } from './ledger/ledger-proof.js';
import { LifeCheck } from './life-check.js';
import { livesOf, marksOf, reservingEpochs, sealedFromOf } from './marks.js';
import type { Place } from './place.js';
import type { HeldByJournal } from './reservations.js';
import { SealCheck, type SealsFound } from './seal-check.js';
import { type Walk, walkShard } from './walk-shard.js';
import type { Clock } from '#libs/platform/time/clock.js';

export interface ExaminedShard extends Walk {
  /** Undefined where it was not asked for. */
  readonly rules: Rules | undefined;
  readonly seals: SealsFound;
  /** Undefined where nothing is held against the journals, or they are damaged. */
  readonly histories: HistoryCheck | undefined;
  /** A record behind damage that an owner has sealed: then that is no end which somebody has forged. */
  readonly sealed_behind: number | undefined;
}

export interface Examination extends Pick<Place, 'family' | 'pool' | 'clock' | 'seals'> {
  readonly store: Pick<JournalStore, 'kind' | 'bareReader'>;
  readonly tell: (line: string) => void;
  /** Of the shards that are to be read; they are told what is in them. */
  readonly held: readonly HeldByJournal[];
  /** Looks at the ledger for what they say of awards, page by page. */
  readonly proof: Pick<LedgerProof, 'look'>;
  /** Whether the journals are here: then they go as far as the database was told, at least. */
  readonly isHome: boolean;
  /** Whether what was made from the journals is held against them. */
  readonly isInUse: boolean;
  /** Whether they have to be written for this database. */
  readonly isOurs: boolean;
  readonly byRules: boolean;
}

/** Of records behind damage. */
const LOOKED_AT = 10_000;
const WHOSEVER = { own: undefined, known: 0 };

/** Reads shards from the first record to the last and says what speaks against each: the chain, what others know of it, its seals, its lives, the rules. */
export async function examineShards(examination: Examination): Promise<ExaminedShard[]> {
  const { family, store, pool, clock, seals, tell, proof, isHome, isInUse, isOurs, byRules } = examination;
  const marks = isHome ? await marksOf(pool, family) : [];
  const epochs = isHome ? await reservingEpochs(pool, family) : new Map<number, number>();
  const sealedFrom = isHome ? await sealedFromOf(pool, family) : new Map<number, number>();
  const lives = isOurs ? await livesOf(pool, family, marks) : () => WHOSEVER;
  const progress = new Progress(clock, tell);
  const examined: ExaminedShard[] = [];
  for (const held of examination.held) {
    const { shard } = held;
    const rules = byRules ? new ByTheRules(shard) : undefined;
    const sealed = new SealCheck({ seals, sealedFrom: sealedFrom.get(shard) });
    const lived = new LifeCheck(lives(shard));
    const histories = isInUse ? new HistoryProof(shard, pool) : undefined;
    const meaning = new Meaning(isInUse ? held : undefined, histories);
    const walk = await walkShard(
      { family, shard },
      {
        reader: store.bareReader,
        marks: marks.filter((mark) => mark.shard === shard),
        reservingEpoch: epochs.get(shard) ?? 0,
        tell: (read) => {
          progress.tell(`shard ${shard}: ${read} records read`);
        },
        onEntries: (entries) => {
          sealed.take(entries);
          lived.take(entries);
          rules?.take(entries);
          meaning.take(entries);
        },
        onPage: async () => {
          await proof.look(pool);
          await histories?.look();
        },
      },
    );
    if (walk.isRead) {
      sealed.end();
      lived.end();
    }
    const faults = [...walk.faults, ...meaning.faults, ...sealed.faults, ...lived.faults];
    const isWhole = faults.length === 0 && walk.isRead;
    examined.push({
      ...walk,
      faults,
      rules: rules?.told,
      seals: sealed.told,
      histories: isWhole ? await histories?.end(walk.head.sequence) : undefined,
      sealed_behind: await sealedBehind(examination, walk),
    });
  }
  return examined;
}

/** In Kafka an owner's append may stand behind a forged record, in vain. In PostgreSQL it is refused. */
async function sealedBehind(
  { store: { kind, bareReader }, seals }: Pick<Examination, 'store' | 'seals'>,
  { shard, faults, head }: Walk,
): Promise<number | undefined> {
  if (seals === undefined || kind === 'kafka' || faults.length === 0) return undefined;
  const found = await bareReader.unchecked(shard, head.sequence + 1, LOOKED_AT);
  return found.find(
    ({ sequence = 0, epoch = 0, hash = '', seal }) =>
      seal && seals.isGood({ shard, sequence, epoch, hash }, seal),
  )?.sequence;
}

/** Records that are just as they were written may still be none that anything can be made of; what follows them says nothing then. */
class Meaning {
  readonly faults: string[] = [];

  constructor(
    private readonly held: HeldByJournal | undefined,
    private readonly histories: HistoryProof | undefined,
  ) {}

  take(entries: readonly JournalEntry[]): void {
    if (this.faults.length > 0) return;
    try {
      this.held?.take(entries);
      this.histories?.take(entries);
    } catch (error) {
      this.faults.push(`what its records say cannot be: ${messageOf(error)}`);
    }
  }
}

const EVERY_NANOS = 1_000_000_000n;

/** A line a second at most, so that a long run can be told from one that hangs. */
export class Progress {
  private told: bigint;

  constructor(
    private readonly clock: Clock,
    private readonly say: (line: string) => void,
  ) {
    this.told = clock.monotonicNanos();
  }

  tell(line: string): void {
    const now = this.clock.monotonicNanos();
    if (now - this.told < EVERY_NANOS) return;
    this.told = now;
    this.say(line);
  }
}
