import type { Pool } from 'pg';
import { decodeEvent, isOfAuction } from '../rules/event-versions.js';
import { JournalBackend, WrongBackend } from '#libs/journal/backend/journal-backend.js';
import { JournalLock } from '#libs/journal/backend/journal-lock.js';
import { JournalCorrupt, JournalUnreadable } from '#libs/journal/journal-errors.js';
import type { JournalStore } from '#libs/journal/stores/journal-store.js';
import type { TopicSurvey } from '#libs/journal/kafka/topic-survey.js';
import { compareProjection, type TableComparison } from '#libs/projecting/rebuild/compare.js';
import { auctionProjection } from '../projections/projection.js';
import type { JournalCall } from './call.js';
import { isRight } from './histories.js';
import { examineShards, type ExaminedShard } from './examine-shards.js';
import { checkLedger, type LedgerCheck } from './ledger/check-ledger.js';
import { LedgerProof } from './ledger/ledger-proof.js';
import { ALL_SHARDS, type Place } from './place.js';
import { checkReservations, HeldByJournal, type ReservationCheck } from './reservations.js';

export interface VerifiedShard extends ExaminedShard {
  readonly survey: TopicSurvey | undefined;
}

export interface Verdict {
  readonly sound: boolean;
  /** False, like `sound`, if something could not be read and the rest is sound. */
  readonly damaged: boolean;
  readonly store: JournalStore['kind'];
  /** Whether the journals are kept there. Otherwise it is a copy, which may end earlier. */
  readonly is_home: boolean;
  readonly shards: readonly VerifiedShard[];
  /** Undefined if it was not requested, or if a journal is damaged or could not be read. */
  readonly projections: readonly TableComparison[] | undefined;
  /** Also undefined while owners write. */
  readonly reservations: ReservationCheck | undefined;
  /** Undefined if the projections are. */
  readonly ledger: LedgerCheck | undefined;
}

export interface VerifyPorts extends Place {
  readonly tell: (line: string) => void;
}

const READ_ON_PAGE = 4_000;
const NO_COPY: Readonly<Record<JournalStore['kind'], string>> = {
  postgres: 'the journals are in Kafka, and PostgreSQL has no copy of them, or none of all shards',
  kafka:
    'the journals are in PostgreSQL, and Kafka has no copy of them in these topics, or none of all shards: KAFKA_TOPIC_PREFIX says which',
};

/** Checks the journals, everything that was made from them, and everything that they promise. */
export async function verify(
  ports: VerifyPorts,
  shards: readonly number[],
  { store: kind, chainOnly }: Pick<JournalCall, 'store' | 'chainOnly'>,
): Promise<Verdict> {
  const { pool, family } = ports;
  const store = await ports.store(kind);
  // Nothing was made from an older copy since the journals left it, so only its records are checked.
  const home = kind === undefined || (await isHome(ports, store));
  const isRerun = !chainOnly && family === 'auction';
  const isInUse = isRerun && home;
  const isOurs = !chainOnly && home && store.kind === 'kafka';
  const wasWritten = await JournalLock.isHeld(pool);
  const proof = new LedgerProof();
  const held = shards.map(
    (shard) =>
      new HeldByJournal(shard, (position, event, after) => {
        proof.take(shard, position, event, after);
      }),
  );
  // In PostgreSQL a journal is restored together with its database, so its incarnations are not checked.
  const scope = { isHome: home, isInUse, isOurs, byRules: isRerun };
  const examined = await examineShards({ ...ports, ...scope, store, held, proof });
  if (!home && examined.some(({ records, isRead }) => isRead && records === 0))
    throw new WrongBackend(NO_COPY[store.kind]);
  const walks: VerifiedShard[] = [];
  for (const one of examined) walks.push(await surveyed(store, one));
  const isDamaged = walks.some(({ faults, rules }) => faults.length > 0 || (rules?.found ?? 0) > 0);
  const isRead = walks.every(({ unread }) => unread === undefined);
  const canCompare = !isDamaged && isRead && isInUse;
  const projections = canCompare ? await projectionsOf(ports, store, shards) : undefined;
  const reservations = canCompare && !wasWritten ? await unlessWritten(pool, held) : undefined;
  const ledger = canCompare
    ? await checkLedger(pool, proof, {
        shards,
        allShards: ALL_SHARDS,
        pending: held.flatMap(({ pending }) => pending),
        readOn: () => readOn(store, walks, proof),
      })
    : undefined;
  const damaged =
    isDamaged ||
    walks.some(({ histories }) => histories !== undefined && !isRight(histories)) ||
    (ledger?.faults ?? []).length > 0 ||
    (projections ?? []).some(({ differing }) => differing > 0) ||
    (reservations?.missing ?? []).length > 0;
  return {
    sound: isRead && !damaged,
    damaged,
    store: store.kind,
    is_home: home,
    shards: walks,
    projections,
    reservations,
    ledger,
  };
}

/** Reads what was appended since the journals were read. */
async function readOn(
  { bareReader }: JournalStore,
  walks: readonly ExaminedShard[],
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
  // An owner may have started since the journals were read.
  return (await JournalLock.isHeld(pool)) ? undefined : check;
}

/** The other messages in a topic can be counted only if its journal is whole. */
async function surveyed(store: JournalStore, examined: ExaminedShard): Promise<VerifiedShard> {
  const unsurveyed = { ...examined, survey: undefined };
  if (!examined.isRead || examined.faults.length > 0 || examined.records === 0) return unsurveyed;
  try {
    return { ...examined, survey: await store.survey(examined.shard) };
  } catch (error) {
    if (error instanceof JournalCorrupt) return { ...unsurveyed, faults: [error.message] };
    if (error instanceof JournalUnreadable) return { ...unsurveyed, unread: error.message };
    throw error;
  }
}

async function projectionsOf(
  { pool, clock, tell }: VerifyPorts,
  { bareReader: reader }: JournalStore,
  shards: readonly number[],
): Promise<TableComparison[]> {
  tell('rebuilding the projections to compare them');
  const [only] = shards;
  return await compareProjection(
    auctionProjection,
    { pool, reader, clock },
    shards.length === 1 ? only : undefined,
  );
}

/** According to the database, whatever the caller's settings are. A Kafka cluster without the journals was refused before. */
async function isHome({ pool, family }: VerifyPorts, { kind }: JournalStore): Promise<boolean> {
  const isInKafka = await new JournalBackend(pool, family).isSettled();
  return isInKafka === (kind === 'kafka');
}
