import type { Pool } from 'pg';
import { MakerProtection } from '#libs/auction/admission/policy/maker-protection.js';
import { PolicyWatch } from '#libs/auction/admission/policy/policy-watch.js';
import { PostgresReservationDesk } from '#libs/auction/admission/risk/postgres-desk.js';
import { PostgresPreflight } from '#libs/auction/admission/risk/postgres-preflight.js';
import { PostgresSettlement } from '#libs/auction/settlement/postgres-settlement.js';
import { IdFactory } from '#libs/auction/shard/ids.js';
import { composeShard } from '#libs/auction/shard/compose-shard.js';
import type { Shard } from '#libs/auction/shard/shard.js';
import { HistoryTable } from '#libs/auction/shard/histories/history-table.js';
import { KafkaJournal } from '#libs/journal/kafka/kafka-journal.js';
import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { CheckpointTable } from '#libs/journal/checkpoint/checkpoint-table.js';
import { CheckpointedWriter } from '#libs/journal/checkpoint/checkpointed-writer.js';
import { type OwnerLink, type OwnerRequest, readPreferences } from '#libs/auction/protocol/protocol.js';
import { type JournalNotice, journalNotices } from '#libs/link/journal-notices.js';
import { LinkClient, type LinkClientOptions } from '#libs/link/link-client.js';
import { NoticeBoard } from '#libs/link/notices.js';
import { SERVICE_TOKEN_HEADER } from '#libs/platform/internal-server/internal-host.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { LinkServer } from '#libs/link/link-server.js';
import { isValidToken } from '#libs/platform/internal-server/internal-server.js';
import { repeat } from '#libs/platform/time/clock.js';
import { CompletedReader } from '#libs/auction/projections/completed-reader.js';
import { openReservations } from '../storage/reservation-session.js';
import { SnapshotShelf } from '../storage/snapshot-shelf.js';
import { poolOf } from '../storage/sql-pool.js';
import { LinkEnd } from '../wire/link-end.js';
import type { Life } from './unit.js';
import { ID_KEY, SERVICE_TOKEN, SHARDS, topicOf } from './world.js';

const JOURNAL_LOOK_MILLIS = 200;
const FAILED_LINGER_MILLIS = 1_500;

/** The address of a shard's owner. */
export function ownerAddress(shard: number): string {
  return `owner-${shard}`;
}

/** An owner process, composed as in `apps/owner`. */
export async function bootOwner(life: Life, number: number): Promise<void> {
  const { host, world } = life;
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    if (failures.length > 1) return;
    world.trace.note(
      `${host.name}: the journal has failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    link.cut();
    life.clock.after(FAILED_LINGER_MILLIS, () => life.exit('its journal has failed'));
  };
  const notices = new NoticeBoard(journalNotices);
  const link = new LinkServer<OwnerRequest>({
    serviceTokens: () => [SERVICE_TOKEN],
    handle: (request, peer): Promise<LinkReply> => shard.handle(request, readPreferences(peer)),
    notices,
    clock: life.clock,
    onFault: (error, peer) => world.onFault(host.name, `link of ${peer}`, error),
  });
  const shard = await openShard(life, number, (notice) => notices.announce(notice), fail);
  await shard.start();
  world.trace.note(`${host.name}: serves`);
  if (failures.length > 0) return;
  world.network.listen(ownerAddress(number), host, ({ end, headers }) => {
    const isWelcome = failures.length === 0 && isValidToken(headers[SERVICE_TOKEN_HEADER], [SERVICE_TOKEN]);
    if (isWelcome) link.serve(new LinkEnd(end), headers);
    else end.terminate();
  });
}

async function openShard(
  life: Life,
  number: number,
  announce: (notice: JournalNotice) => void,
  fail: (error: unknown) => void,
): Promise<Shard> {
  const { host, clock, random, world } = life;
  const { database } = world;
  const pool = poolOf(database, host);
  const writer = await openWriter(life, pool, number);
  watchJournal(life, writer, fail);
  const desk = await PostgresReservationDesk.open({
    url: '',
    shard: number,
    epoch: writer.head.epoch,
    clock,
    random: () => random.next(),
    openSession: () => openReservations(database, host, number),
  });
  const policy = new PolicyWatch(pool, clock);
  await policy.start();
  const settlement = new PostgresSettlement(pool, clock, () => random.next());
  return composeShard({
    shard: number,
    clock,
    writer,
    reader: new KafkaJournalReader({
      family: 'auction',
      openLog: (shard) => topicOf(world, shard).open(host),
      shards: [number],
    }),
    snapshots: new SealedSnapshots({
      family: 'auction',
      store: new SnapshotShelf(world.snapshots, database, host),
      keys: [Buffer.from(ID_KEY, 'hex')],
      onRefused: ({ sequence, reason }) =>
        world.onFault(host.name, `snapshot at ${sequence}`, new Error(`refused for its ${reason}`)),
    }),
    desk,
    preflight: new PostgresPreflight(pool, clock),
    policy,
    ids: new IdFactory(Buffer.from(ID_KEY, 'hex')),
    completed: new CompletedReader(pool),
    histories: new HistoryTable(pool, number),
    conclusion: settlement,
    protection: new MakerProtection(pool),
    peers: peersOf(life, number),
    referenceNanos: () => referenceOf(life),
    journalHasRoom: () => Promise.resolve(true),
    meter: { command: () => undefined, appended: () => undefined },
    announce,
    settings: world.settings.shard,
    onJournalFailure: fail,
    onFault: (what, error) => world.onFault(host.name, what, error),
  });
}

/** As in `CheckpointedTopics`: the database records an epoch before the epoch serves any caller. */
async function openWriter({ host, clock, world }: Life, pool: Pool, shard: number): Promise<JournalWriter> {
  const journal = new KafkaJournal({
    family: 'auction',
    openLog: (wanted) => Promise.resolve(topicOf(world, wanted).open(host)),
    clock,
    opener: host.name,
  });
  const checkpoints = new CheckpointTable(pool, 'auction');
  const { writer, located } = await journal.openAfter(shard, await checkpoints.located(shard));
  if (!(await checkpoints.advance(shard, located())))
    throw new Error('another writer has taken over the shard');
  const onFault = (error: unknown): void => world.onFault(host.name, 'witness', error);
  return new CheckpointedWriter({ writer, located, checkpoints, clock, onFault });
}

function watchJournal({ clock }: Life, writer: JournalWriter, fail: (error: unknown) => void): void {
  repeat(clock, JOURNAL_LOOK_MILLIS, () => {
    const health = writer.health();
    if (!health.ok) fail(new Error(health.reason));
    return Promise.resolve();
  });
}

function peersOf(life: Life, number: number): Map<number, OwnerLink> {
  const others = SHARDS.filter((shard) => shard !== number);
  return new Map(others.map((shard) => [shard, openLink(life, shard)]));
}

/** A link to an owner over the simulated network. */
export function openLink(
  { host, clock, world }: Life,
  shard: number,
  more: Partial<LinkClientOptions> = {},
): OwnerLink {
  return new LinkClient({
    url: `http://${ownerAddress(shard)}`,
    serviceToken: () => SERVICE_TOKEN,
    peer: host.name,
    clock,
    openSocket: (_url, headers) =>
      new LinkEnd(world.network.connect(host, ownerAddress(shard), headers, true)),
    ...more,
  });
}

async function referenceOf({ host, world: { database } }: Life): Promise<bigint> {
  const pool = poolOf(database, host);
  const client = await pool.connect();
  client.release(true);
  return database.epochNanos();
}
