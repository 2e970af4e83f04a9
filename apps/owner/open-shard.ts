import { NANOS_PER_MICRO } from '#libs/base/instant.js';
import { randomInt } from 'node:crypto';
import type { Pool } from 'pg';
import { MakerProtection } from '#libs/auction/admission/policy/maker-protection.js';
import { PolicyWatch } from '#libs/auction/admission/policy/policy-watch.js';
import { PostgresReservationDesk } from '#libs/auction/admission/risk/postgres-desk.js';
import { PostgresPreflight } from '#libs/auction/admission/risk/postgres-preflight.js';
import { PostgresSettlement } from '#libs/auction/settlement/postgres-settlement.js';
import { IdFactory } from '#libs/auction/shard/ids.js';
import type { ShardSettings } from '#libs/auction/shard/shard-ports.js';
import { composeShard } from '#libs/auction/shard/compose-shard.js';
import type { Shard } from '#libs/auction/shard/shard.js';
import { HistoryTable } from '#libs/auction/shard/histories/history-table.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { PostgresSnapshotStore } from '#libs/journal/postgres/postgres-snapshots.js';
import { type RefusedSnapshot, SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import type { JournalNotice } from '#libs/link/journal-notices.js';
import type { ServiceTokens } from '#libs/link/service-tokens.js';
import { type Clock, repeat } from '#libs/platform/time/clock.js';
import { refuseUnfitDatabase } from '#libs/platform/database/fit-database.js';
import { keyBytes } from '#libs/platform/settings/setting-types.js';
import { CompletedReader } from '#libs/auction/projections/completed-reader.js';
import { checkIdKeys } from './known-ids.js';
import { openOwnerJournal, type OwnerParts } from './open-journal.js';
import { OwnerMetrics } from './owner-metrics.js';
import type { OwnerLink } from '#libs/auction/protocol/protocol.js';
import { openLink } from '#libs/link/link-client.js';
import type { Config } from '#libs/platform/settings/config.js';
import type { Tracing } from '#libs/platform/tracing/tracing.js';
import type { ownerConfig } from './config.js';

export interface ShardParts extends OwnerParts {
  readonly pool: Pool;
  readonly projections: Pool;
  readonly tokens: ServiceTokens;
  readonly announce: (notice: JournalNotice) => void;
  readonly onJournalFailure: (error: unknown) => void;
}

const REJECTION_TEXTS: Readonly<Record<RefusedSnapshot['reason'], string>> = {
  format: 'it was written by another version',
  journal: 'the journal has no such record',
  seal: 'its seal is missing or wrong: no owner wrote it, or its ID_KEY is no longer set',
};
const HEALTH_CHECK_MILLIS = 200;
const CONFIRM_MILLIS = 5_000;
const RANDOM_RANGE = 2 ** 32;

function random(): number {
  return randomInt(RANDOM_RANGE) / RANDOM_RANGE;
}

/**
 * Becomes the shard's only writer and connects the engine's adapters. Resources close in reverse order of
 * opening.
 */
export async function openShard(parts: ShardParts): Promise<Shard> {
  const { config, log, registry, clock, pool, scope, tracing, announce, onJournalFailure } = parts;
  await refuseUnfitDatabase(pool);
  const { journal, reader, hasRoom } = await openOwnerJournal(parts, pool);
  const writer = await journal.open(config.SHARD);
  scope.onStop('journal', () => writer.close());
  const [idKey, ...formerIdKeys] = keyBytes(config.ID_KEY);
  const ids = new IdFactory(idKey, ...formerIdKeys);
  await checkIdKeys(reader, { shard: config.SHARD, head: writer.head.sequence }, ids);
  watchJournal(parts, writer);
  const desk = await openDesk(parts, writer);
  const opened: { shard?: Shard } = {};
  const policy = new PolicyWatch(pool, clock, () => (opened.shard?.book.liveCount ?? 0) > 0);
  policy.tellFaults((err) => {
    log.warn({ err }, 'the policy cannot be read; creates and quotes are refused until it can');
  });
  await policy.start();
  scope.onStop('policy', () => {
    policy.stop();
  });
  const peers = openPeers(config, parts.tokens, clock, tracing);
  scope.onStop('peers', () => {
    for (const peer of peers.values()) peer.close();
  });
  const meter = new OwnerMetrics(registry, config.SHARD, () => opened.shard, desk);
  const shard = composeShard({
    shard: config.SHARD,
    clock,
    writer,
    reader,
    snapshots: openSnapshots(parts, meter),
    desk,
    preflight: new PostgresPreflight(pool, clock),
    policy,
    ids,
    completed: new CompletedReader(parts.projections),
    histories: new HistoryTable(pool, config.SHARD),
    conclusion: meter.watched(new PostgresSettlement(pool, clock, random)),
    protection: new MakerProtection(pool),
    peers,
    referenceNanos: () => databaseNanos(pool),
    journalHasRoom: hasRoom,
    meter,
    announce,
    settings: settingsOf(config),
    onJournalFailure,
    onFault: (what, error) => {
      log.error({ err: error, part: what }, 'a part of the shard failed');
    },
    tracing,
  });
  opened.shard = shard;
  return shard;
}

/**
 * Notices a lost journal even while no command comes in, instead of at the next one. Asking also shows that
 * another owner has taken the shard: the writer then reports itself as dead.
 */
function watchJournal({ clock, scope, onJournalFailure }: ShardParts, writer: JournalWriter): void {
  const stopHealthChecks = repeat(clock, HEALTH_CHECK_MILLIS, () => {
    const health = writer.health();
    if (!health.ok) onJournalFailure(new Error(health.reason));
    return Promise.resolve();
  });
  const stopConfirming = repeat(clock, CONFIRM_MILLIS, () => writer.confirm().catch(() => undefined));
  scope.onStop('journal watch', () => {
    stopHealthChecks();
    stopConfirming();
  });
}

async function openDesk(
  { config, clock, scope }: ShardParts,
  writer: JournalWriter,
): Promise<PostgresReservationDesk> {
  const desk = await PostgresReservationDesk.open({
    url: config.DATABASE_URL,
    shard: config.SHARD,
    epoch: writer.head.epoch,
    clock,
    random,
  });
  scope.onStop('reservations', () => desk.close());
  return desk;
}

function openSnapshots({ config, log, pool }: ShardParts, meter: OwnerMetrics): SealedSnapshots {
  return new SealedSnapshots({
    family: 'auction',
    store: new PostgresSnapshotStore(pool, 'auction'),
    keys: keyBytes(config.ID_KEY),
    onRefused: (refused) => {
      meter.snapshotRefused(refused.reason);
      log.warn(refused, `a snapshot is not used: ${REJECTION_TEXTS[refused.reason]}`);
    },
  });
}

async function databaseNanos(pool: Pool): Promise<bigint> {
  const { rows } = await pool.query<{ micros: string }>(
    'select ((extract(epoch from clock_timestamp()) * 1000000)::bigint)::text as micros',
  );
  const micros = rows[0]?.micros;
  if (micros === undefined) throw new Error('the database returned no time');
  return BigInt(micros) * NANOS_PER_MICRO;
}

function settingsOf(config: ShardParts['config']): ShardSettings {
  return {
    activeAuctionLimit: config.ACTIVE_AUCTION_LIMIT,
    commandsPerMakerLimit: config.COMMANDS_PER_MAKER_LIMIT,
    limitsFactor: config.LIMITS_FACTOR,
    snapshotEvery: config.SNAPSHOT_EVERY_EVENTS,
    maxClockOffsetMillis: config.CLOCK_MAX_OFFSET_MS,
    maxProjectionLagEvents: config.PROJECTION_MAX_LAG_EVENTS,
    maxProjectionLagMillis: config.PROJECTION_MAX_LAG_MS,
  };
}

/** The links to the other owners, by shard. */
export function openPeers(
  config: Config<typeof ownerConfig>,
  tokens: ServiceTokens,
  clock: Clock,
  tracing: Tracing,
): Map<number, OwnerLink> {
  const peers = new Map<number, OwnerLink>();
  for (const [shard, url] of config.OWNER_URLS.entries()) {
    if (shard === config.SHARD) continue;
    peers.set(shard, openLink(tokens, { url, peer: config.INSTANCE, clock, trace: { tracing, shard } }));
  }
  return peers;
}
