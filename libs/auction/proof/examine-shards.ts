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
  /** Undefined if this check was not requested. */
  readonly rules: Rules | undefined;
  readonly seals: SealsFound;
  /** Undefined if nothing is compared with the journals, or if they are damaged. */
  readonly histories: HistoryCheck | undefined;
  /** A record after the damage that an owner has sealed. It shows that the damage is not a forged end. */
  readonly sealed_behind: number | undefined;
}

export interface Examination extends Pick<Place, 'family' | 'pool' | 'clock' | 'seals'> {
  readonly store: Pick<JournalStore, 'kind' | 'bareReader'>;
  readonly tell: (line: string) => void;
  /** One for each shard to read. Each one receives the shard's records. */
  readonly held: readonly HeldByJournal[];
  /** Compares the ledger with the awards in the journals, page by page. */
  readonly proof: Pick<LedgerProof, 'look'>;
  /** Whether the journals are kept here. Then they must reach at least as far as the database knows. */
  readonly isHome: boolean;
  /** Whether everything that was made from the journals is compared with them. */
  readonly isInUse: boolean;
  /** Whether the journals must have been written for this database. */
  readonly isOurs: boolean;
  readonly byRules: boolean;
}

/** How many records after damage are searched. */
const MAX_SEARCHED = 10_000;
const ANY_INCARNATION = { own: undefined, known: 0 };

/**
 * Reads shards from the first record to the last, and reports the faults of each: its chain, the records that others know, its
 * seals, its incarnations, the rules.
 */
export async function examineShards(examination: Examination): Promise<ExaminedShard[]> {
  const { family, store, pool, clock, seals, tell, proof, isHome, isInUse, isOurs, byRules } = examination;
  const marks = isHome ? await marksOf(pool, family) : [];
  const epochs = isHome ? await reservingEpochs(pool, family) : new Map<number, number>();
  const sealedFrom = isHome ? await sealedFromOf(pool, family) : new Map<number, number>();
  const incarnationOf = isOurs ? await livesOf(pool, family, marks) : () => ANY_INCARNATION;
  const progress = new Progress(clock, tell);
  const examined: ExaminedShard[] = [];
  for (const held of examination.held) {
    const { shard } = held;
    const rules = byRules ? new ByTheRules(shard) : undefined;
    const sealCheck = new SealCheck({ seals, sealedFrom: sealedFrom.get(shard) });
    const incarnationCheck = new LifeCheck(incarnationOf(shard));
    const histories = isInUse ? new HistoryProof(shard, pool) : undefined;
    const contentCheck = new ContentCheck(isInUse ? held : undefined, histories);
    const walk = await walkShard(
      { family, shard },
      {
        reader: store.bareReader,
        marks: marks.filter((referenced) => referenced.shard === shard),
        reservingEpoch: epochs.get(shard) ?? 0,
        tell: (read) => {
          progress.tell(`shard ${shard}: ${read} records read`);
        },
        onEntries: (entries) => {
          sealCheck.take(entries);
          incarnationCheck.take(entries);
          rules?.take(entries);
          contentCheck.take(entries);
        },
        onPage: async () => {
          await proof.look(pool);
          await histories?.look();
        },
      },
    );
    if (walk.isRead) {
      sealCheck.end();
      incarnationCheck.end();
    }
    const faults = [...walk.faults, ...contentCheck.faults, ...sealCheck.faults, ...incarnationCheck.faults];
    const isWhole = faults.length === 0 && walk.isRead;
    examined.push({
      ...walk,
      faults,
      rules: rules?.told,
      seals: sealCheck.told,
      histories: isWhole ? await histories?.end(walk.head.sequence) : undefined,
      sealed_behind: await sealedBehind(examination, walk),
    });
  }
  return examined;
}

/** In Kafka an owner's append may follow a forged record, without effect. PostgreSQL refuses it. */
async function sealedBehind(
  { store: { kind, bareReader }, seals }: Pick<Examination, 'store' | 'seals'>,
  { shard, faults, head }: Walk,
): Promise<number | undefined> {
  if (seals === undefined || kind === 'kafka' || faults.length === 0) return undefined;
  const found = await bareReader.unchecked(shard, head.sequence + 1, MAX_SEARCHED);
  return found.find(
    ({ sequence = 0, epoch = 0, hash = '', seal }) =>
      seal && seals.isGood({ shard, sequence, epoch, hash }, seal),
  )?.sequence;
}

/** Unchanged records can still be impossible to apply. The records after them are then not judged. */
class ContentCheck {
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
      this.faults.push(`its records cannot be applied: ${messageOf(error)}`);
    }
  }
}

const EVERY_NANOS = 1_000_000_000n;

/** Prints one line a second at most, so that a long run does not look like one that hangs. */
export class Progress {
  private printedAt: bigint;

  constructor(
    private readonly clock: Clock,
    private readonly print: (line: string) => void,
  ) {
    this.printedAt = clock.monotonicNanos();
  }

  tell(line: string): void {
    const now = this.clock.monotonicNanos();
    if (now - this.printedAt < EVERY_NANOS) return;
    this.printedAt = now;
    this.print(line);
  }
}
