import { randomInt } from 'node:crypto';
import type { Server } from 'node:http';
import type { Registry } from 'prom-client';
import { MakerProtection } from '#libs/admission/policy/maker-protection.js';
import { PolicyWatch } from '#libs/admission/policy/policy-watch.js';
import { PostgresReservationDesk } from '#libs/admission/risk/postgres-desk.js';
import { PostgresPreflight } from '#libs/admission/risk/postgres-preflight.js';
import { PostgresSettlement } from '#libs/custody/postgres-settlement.js';
import { IdFactory } from '#libs/engine/ids.js';
import { Shard } from '#libs/engine/shard.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { LinkServer } from '#libs/owner-link/server.js';
import type { Config } from '#libs/platform/config.js';
import { internalHandler, listen, type Health } from '#libs/platform/internal-server.js';
import type { ProcessScope } from '#libs/platform/lifecycle.js';
import type { Logger } from '#libs/platform/log.js';
import { openPool } from '#libs/platform/postgres.js';
import { SystemClock } from '#libs/platform/system-clock.js';
import { CompletedReader } from '#libs/projections/completed-reader.js';
import type { ownerConfig } from './config.js';
import { journalRoom } from './journal-room.js';
import { OwnerMetrics } from './owner-metrics.js';
import { openPeers } from './peers.js';

export interface OwnerProcess {
  readonly config: Config<typeof ownerConfig>;
  readonly log: Logger;
  readonly registry: Registry;
  readonly scope: ProcessScope;
  readonly server: Server;
}

/** How long a failed owner can still be asked what is the matter with it. */
const FAILED_LINGER_MILLIS = 1_500;

/** Puts one shard together and serves it. Until it has recovered it is alive and not ready. */
export async function serveOwner({ config, log, registry, scope, server }: OwnerProcess): Promise<void> {
  const clock = new SystemClock();
  const random = (): number => randomInt(2 ** 32) / 2 ** 32;
  let shard: Shard | undefined;
  let failure: string | undefined;
  let link: LinkServer | undefined;
  const pool = openPool(config.DATABASE_URL, { applicationName: config.INSTANCE, max: config.DATABASE_POOL });
  scope.onStop('pool', () => pool.end());
  const answer = internalHandler({
    registry,
    healthz: () => (failure === undefined ? { ok: true, status: 'healthy' } : { ok: false, status: failure }),
    readyz: () => readiness(),
  });
  server.on('request', (request, response) => {
    if (!answer(request, response)) response.writeHead(404).end();
  });
  await listen(server, config.INTERNAL_PORT, config.INTERNAL_HOST);
  scope.onStop('listener', () => {
    server.close();
    server.closeAllConnections();
  });

  const journal = new PostgresJournal({ url: config.DATABASE_URL, opener: config.INSTANCE, clock });
  const writer = await journal.open(config.SHARD);
  scope.onStop('journal', () => writer.close());
  const desk = await PostgresReservationDesk.open({
    url: config.DATABASE_URL,
    shard: config.SHARD,
    epoch: writer.head.epoch,
    clock,
    random,
  });
  scope.onStop('reservations', () => desk.close());
  const policy = new PolicyWatch(pool, clock);
  await policy.start();
  scope.onStop('policy', () => {
    policy.stop();
  });
  const peers = openPeers(config, clock);
  scope.onStop('peers', () => {
    for (const peer of peers.values()) peer.close();
  });
  const settlement = new PostgresSettlement(pool, clock, random);
  shard = new Shard({
    shard: config.SHARD,
    clock,
    writer,
    reader: new PostgresJournalReader(pool),
    desk,
    preflight: new PostgresPreflight(pool, clock),
    policy,
    ids: new IdFactory(Buffer.from(config.ID_KEY, 'hex')),
    completed: new CompletedReader(pool),
    conclusion: {
      conclude: async (awardId) => {
        const { outcome } = await settlement.abandon(awardId, 'EXECUTION_DEADLINE_PASSED');
        return outcome === 'SETTLED' ? 'CONFIRMED' : 'FAILED';
      },
    },
    protection: new MakerProtection(pool),
    peers,
    referenceNanos: async () => {
      const { rows } = await pool.query<{ micros: string }>(
        'select (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as micros',
      );
      return BigInt(rows[0]?.micros ?? 0) * 1_000n;
    },
    journalHasRoom: journalRoom(pool, config),
    meter: new OwnerMetrics(registry, () => shard, desk),
    settings: {
      activeAuctionLimit: config.ACTIVE_AUCTION_LIMIT,
      commandsPerMakerLimit: config.COMMANDS_PER_MAKER_LIMIT,
      limitsFactor: config.LIMITS_FACTOR,
      maxClockOffsetMillis: config.CLOCK_MAX_OFFSET_MS,
      maxProjectionLagEvents: config.PROJECTION_MAX_LAG_EVENTS,
      maxProjectionLagMillis: config.PROJECTION_MAX_LAG_MS,
    },
    onJournalFailure: (error) => {
      // Whoever is connected must not hear another word; the journal alone knows what became of the last batch.
      failure = 'journal_failed';
      log.fatal({ err: error }, 'the journal has failed; a fresh process will recover from it');
      link?.close();
      clock.after(FAILED_LINGER_MILLIS, () => scope.failNow(error));
    },
    onFault: (what, error) => {
      log.error({ err: error, part: what }, 'fault');
    },
  });
  const { events } = await shard.start();
  log.info({ shard: config.SHARD, epoch: writer.head.epoch, events }, 'recovered');
  const open = shard;
  scope.onStop('shard', () => open.stop());
  link = new LinkServer({
    serviceTokens: () => [config.SERVICE_TOKEN],
    handle: (request) => open.handle(request),
    onFault: (error, peer) => {
      log.error({ err: error, peer }, 'a request could not be handled');
    },
  });
  link.attach(server);
  const serving = link;
  scope.onStop('link', () => {
    serving.close();
  });
  scope.stopping.addEventListener('abort', () => {
    open.conditions.drain();
  });

  async function readiness(): Promise<Health> {
    if (failure !== undefined) return { ok: false, status: failure };
    if (scope.stopping.aborted || shard?.conditions.draining === true) return { ok: false, status: 'draining' };
    if (link === undefined) return { ok: false, status: 'recovering' };
    const reachable = await pool.query('select 1').then(
      () => true,
      () => false,
    );
    return reachable ? { ok: true, status: 'ready' } : { ok: false, status: 'control_schema_unreachable' };
  }
}
