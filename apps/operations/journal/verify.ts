import type { Pool } from 'pg';
import { decodeEvent, isOfAuction } from '#libs/auction/upcasters.js';
import { JournalLock } from '#libs/journal/home/journal-lock.js';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import type { TopicSurvey } from '#libs/journal/kafka/topic-survey.js';
import { StartFault } from '#libs/platform/start-fault.js';
import { compareProjections } from '#libs/projections/rebuild/compare.js';
import type { TableComparison } from '#libs/projections/rebuild/differences.js';
import { ByTheRules, type Rules } from './by-the-rules.js';
import type { Call } from './call.js';
import { checkLedger, type LedgerCheck } from './ledger/check-ledger.js';
import { LedgerProof } from './ledger/ledger-proof.js';
import { marksOf, reservingEpochs, sealedFromOf } from './marks.js';
import { ALL_SHARDS, type Place } from './place.js';
import { Progress } from './progress.js';
import { checkReservations, HeldByJournal, type ReservationCheck } from './reservations.js';
import { SealCheck, type SealsFound } from './seal-check.js';
import { walkShard, type Walk } from './walk-shard.js';

export interface VerifiedShard extends Walk {
  /** Undefined where it was not asked for. */
  readonly rules: Rules | undefined;
  readonly survey: TopicSurvey | undefined;
  readonly seals: SealsFound;
}

export interface Verdict {
  readonly sound: boolean;
  readonly store: JournalStore['kind'];
  readonly shards: readonly VerifiedShard[];
  /** Undefined where it was not asked for, or nothing can be said of it because a journal is damaged. */
  readonly projections: readonly TableComparison[] | undefined;
  /** Undefined, too, while owners write. */
  readonly reservations: ReservationCheck | undefined;
  /** Undefined where the projections are. */
  readonly ledger: LedgerCheck | undefined;
}

export interface VerifyPorts extends Place {
  readonly tell: (line: string) => void;
}

const READ_ON_PAGE = 4_000;

/** Everything that can be said of the journals, of what was made from them and of what they promise. */
export async function verify(
  ports: VerifyPorts,
  shards: readonly number[],
  { store: kind, chainOnly }: Pick<Call, 'store' | 'chainOnly'>,
): Promise<Verdict> {
  const { pool } = ports;
  const store = await ports.store(kind);
  // Whoever keeps an older copy has made nothing from it since.
  const isInUse = !chainOnly && (kind === undefined || (await isHome(ports, store)));
  const wasWritten = await JournalLock.isHeld(pool);
  const proof = new LedgerProof();
  const held = shards.map(
    (shard) =>
      new HeldByJournal(shard, (position, event, after) => {
        proof.take(shard, position, event, after);
      }),
  );
  const walks = await walkAll(ports, store, { held, proof }, { isInUse, chainOnly });
  const sound = walks.every(({ faults, rules }) => faults.length === 0 && (rules?.found ?? 0) === 0);
  const beside = sound && isInUse;
  const projections = beside ? await projectionsOf(ports, store, shards) : undefined;
  const reservations = beside && !wasWritten ? await unlessWritten(pool, held) : undefined;
  const ledger = beside
    ? await checkLedger(pool, proof, {
        shards,
        allShards: ALL_SHARDS,
        pending: held.flatMap(({ pending }) => pending),
        readOn: () => readOn(store, walks, proof),
      })
    : undefined;
  return {
    sound:
      sound &&
      (ledger?.faults ?? []).length === 0 &&
      (projections ?? []).every(({ differing }) => differing === 0) &&
      (reservations?.missing ?? []).length === 0,
    store: store.kind,
    shards: walks,
    projections,
    reservations,
    ledger,
  };
}

/** What was appended since the journals were read. */
async function readOn(
  { bareReader }: JournalStore,
  walks: readonly Walk[],
  proof: LedgerProof,
): Promise<void> {
  for (const { shard, head } of walks) {
    for (let next = head.sequence + 1; ;) {
      const entries = await bareReader.read(shard, next, READ_ON_PAGE);
      for (const { kind, payload } of entries) {
        const event = kind === 'event' ? decodeEvent(payload) : undefined;
        if (event !== undefined && isOfAuction(event)) proof.award(event);
      }
      const last = entries.at(-1);
      if (last === undefined) break;
      next = last.sequence + 1;
    }
  }
}

async function unlessWritten(
  pool: Pool,
  held: readonly HeldByJournal[],
): Promise<ReservationCheck | undefined> {
  const check = await checkReservations(pool, held);
  // An owner may have begun since the journals were read.
  return (await JournalLock.isHeld(pool)) ? undefined : check;
}

async function walkAll(
  { pool, clock, tell, seals }: VerifyPorts,
  store: JournalStore,
  { held, proof }: { readonly held: readonly HeldByJournal[]; readonly proof: LedgerProof },
  { isInUse, chainOnly }: { readonly isInUse: boolean; readonly chainOnly: boolean },
): Promise<VerifiedShard[]> {
  const marks = isInUse ? await marksOf(pool, store.kind) : [];
  const epochs = isInUse ? await reservingEpochs(pool) : new Map<number, number>();
  const sealedFrom = isInUse ? await sealedFromOf(pool) : new Map<number, number>();
  const heads = await store.bareReader.heads();
  const progress = new Progress(clock, tell);
  const walks: VerifiedShard[] = [];
  for (const journal of held) {
    const { shard } = journal;
    const byTheRules = chainOnly ? undefined : new ByTheRules(shard);
    const sealed = new SealCheck({ seals, sealedFrom: sealedFrom.get(shard) });
    const walk = await walkShard(shard, {
      reader: store.bareReader,
      marks: marks.filter((mark) => mark.shard === shard),
      reservingEpoch: epochs.get(shard) ?? 0,
      tell: (read) => {
        progress.tell(`shard ${shard}: ${read} of ${heads.get(shard) ?? 0} records read`);
      },
      onEntries: (entries) => {
        sealed.take(entries);
        // Before the others, for it names what they cannot read.
        byTheRules?.take(entries);
        if (!isInUse) return;
        journal.take(entries);
      },
      onPage: () => proof.look(pool),
    });
    walks.push(await surveyed(store, walk, { rules: byTheRules?.told, sealed }));
  }
  return walks;
}

async function surveyed(
  store: JournalStore,
  walked: Walk,
  { rules, sealed }: { readonly rules: Rules | undefined; readonly sealed: SealCheck },
): Promise<VerifiedShard> {
  const seals = sealed.end();
  // Where the chain is not whole, it was not read to its end.
  const walk = walked.faults.length > 0 ? walked : { ...walked, faults: sealed.faults };
  if (walk.faults.length > 0 || walk.records === 0) return { ...walk, rules, survey: undefined, seals };
  try {
    return { ...walk, rules, survey: await store.survey(walk.shard), seals };
  } catch (error) {
    if (!(error instanceof JournalCorrupt)) throw error;
    return { ...walk, faults: [error.message], rules, survey: undefined, seals };
  }
}

async function projectionsOf(
  { pool, clock, tell }: VerifyPorts,
  { bareReader: reader }: JournalStore,
  shards: readonly number[],
): Promise<TableComparison[]> {
  tell('making the projections again to compare them');
  const [only] = shards;
  return await compareProjections({ pool, reader, clock }, shards.length === 1 ? only : undefined);
}

async function isHome({ store: open }: VerifyPorts, store: JournalStore): Promise<boolean> {
  try {
    return (await open()).kind === store.kind;
  } catch (error) {
    if (error instanceof StartFault) return false;
    throw error;
  }
}
