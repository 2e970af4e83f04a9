import { resumePoints } from '#libs/auction/stream/resume-point.js';
import { OwnerRouter } from '#libs/auction/api/owner-router.js';
import { AuctionPages } from '#libs/auction/api/auctions/auction-pages.js';
import { AuctionsController } from '#libs/auction/api/auctions/auctions.controller.js';
import { CompletedReads } from '#libs/auction/api/auctions/completed-reads.js';
import { TimelineStream } from '#libs/auction/api/auctions/timeline-stream.js';
import { QuotePages } from '#libs/auction/api/quotes/quote-pages.js';
import { QuotesController } from '#libs/auction/api/quotes/quotes.controller.js';
import { WithdrawAll } from '#libs/auction/api/quotes/withdraw-all.js';
import { PresenceReporter } from '#libs/auction/api/stream/presence-reporter.js';
import { startingPoint } from '#libs/auction/api/stream/starting-point.js';
import { StreamArchive } from '#libs/auction/api/stream/stream-archive.js';
import { StreamCommands } from '#libs/auction/api/stream/stream-commands.js';
import { instantFromNanos } from '#libs/base/instant.js';
import { KafkaJournalReader } from '#libs/journal/kafka/kafka-reader.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { GATEWAY_READS, type OwnerLink } from '#libs/auction/protocol/protocol.js';
import { journalNotices } from '#libs/link/journal-notices.js';
import { receiveNotices } from '#libs/link/notices.js';
import { nextTurn } from '#libs/platform/time/clock.js';
import { CompletedReader } from '#libs/auction/projections/completed-reader.js';
import { PostgresHistoryStore } from '#libs/auction/projections/reader/history-store.js';
import type { WantedHistories } from '#libs/auction/protocol/histories.js';
import { Feed } from '#libs/auction/stream/feed/feed.js';
import { HistoryCatchUps } from '#libs/auction/stream/feed/history-catch-up.js';
import { STREAM_LIMITS } from '#libs/auction/stream/stream-limits.js';
import { ResumeTokens } from '#libs/socket/resume-token.js';
import { openStreamHub, type StreamHub } from '#libs/auction/stream/stream-hub.js';
import { SnapshotShelf } from '../storage/snapshot-shelf.js';
import { poolOf } from '../storage/sql-pool.js';
import { HttpDesk } from './http-desk.js';
import { openLink } from './owner.js';
import { acceptStream, sessionOf } from './stream-door.js';
import type { Life } from './unit.js';
import { JOURNAL_LIFE, SHARDS, STREAM_KEY, topicOf } from './world.js';

const OWNER_TIMEOUT_MILLIS = 3_000;
const CONNECTIONS_PER_ACCOUNT = 16;

export function httpAddress(gateway: string): string {
  return `${gateway}/http`;
}

export function streamAddress(gateway: string): string {
  return `${gateway}/stream`;
}

interface Desks {
  readonly owners: OwnerRouter;
  readonly reader: JournalReader;
  readonly controllers: readonly object[];
  readonly archive: StreamArchive;
}

/** The gateway process without its listeners, composed as in `apps/gateway`. */
export async function bootGateway(life: Life): Promise<void> {
  const { host, random, world } = life;
  const desks = openDesks(life);
  const http = new HttpDesk(desks.controllers, () => random.uuid());
  const hub = await openStreams(life, desks);
  world.network.listen(httpAddress(host.name), host, ({ end, headers }) => {
    http.serve(end, headers.account ?? '');
  });
  world.network.listen(streamAddress(host.name), host, ({ end, headers }) => {
    acceptStream(hub, end, headers.account ?? '');
  });
  world.trace.note(`${host.name}: serves`);
}

function openDesks(life: Life): Desks {
  const { host, random, world } = life;
  const links: OwnerLink[] = SHARDS.map((shard) =>
    openLink(life, shard, {
      headers: GATEWAY_READS,
      timeoutMillis: OWNER_TIMEOUT_MILLIS,
      onNotice: receiveNotices(journalNotices, (notice) => owners.noticed(shard, notice)),
    }),
  );
  const owners = new OwnerRouter(links);
  const completedReader = new CompletedReader(poolOf(world.database, host));
  const completed = new CompletedReads(completedReader);
  const timelines = new TimelineStream(owners, completedReader, completed);
  const controllers = [
    new AuctionsController(owners, new AuctionPages(owners, completedReader), completed, timelines),
    new QuotesController(owners, completed, new QuotePages(owners, completedReader), new WithdrawAll(owners)),
  ];
  return {
    owners,
    controllers,
    reader: new KafkaJournalReader({
      family: 'auction',
      openLog: (shard) => topicOf(world, shard).open(host),
      shards: SHARDS,
    }),
    archive: new StreamArchive(owners, completed, timelines, () => random.uuid()),
  };
}

async function openStreams(life: Life, { owners, reader, controllers, archive }: Desks): Promise<StreamHub> {
  const { host, clock, random, world } = life;
  const snapshots = new SnapshotShelf(world.snapshots, world.database, host);
  const { history, ...pages } = world.settings.stream;
  const limits = { ...STREAM_LIMITS, ...pages };
  const feed = new Feed({
    reader,
    clock,
    shards: SHARDS.length,
    history,
    startingPoint: (shard) => startingPoint(shard, reader, snapshots, history),
    onFailure: (error, shard) => world.onFault(host.name, `feed of ${shard ?? 'all'}`, error),
  });
  await feed.start();
  world.feeds.set(host.name, () => feed.positions());
  owners.onNotice((shard, notice) => {
    feed.hear(shard, notice);
    void nextTurn().then(() => {
      // Reading the records would take longer.
      if (notice.records !== undefined && feed.positions()[shard] === notice.head) world.onTold();
    });
  });
  const presence = new PresenceReporter({
    gateway: random.uuid(),
    shards: SHARDS,
    ask: (shard, request) => owners.ask(shard, request),
    clock,
  });
  presence.start();
  const nothing = (): void => undefined;
  const kept = new PostgresHistoryStore(poolOf(world.database, host));
  const store = {
    position: (shard: number) => kept.position(shard),
    histories: (wanted: WantedHistories) => {
      world.onRecall();
      return kept.histories(wanted);
    },
  };
  const ports = {
    feed,
    histories: new HistoryCatchUps({ feed, store, clock, limits }),
    tokens: new ResumeTokens([STREAM_KEY], resumePoints, JOURNAL_LIFE, (bytes) => random.bytes(bytes)),
    sessions: { checkOf: (token: string) => () => sessionOf(token) },
    commands: new StreamCommands(controllers, {
      newRequestId: () => random.uuid(),
      now: () => instantFromNanos(clock.epochNanos()),
    }),
    archive,
    presence,
    meter: { opened: nothing, closed: nothing, received: nothing, resumed: nothing, resynced: nothing },
    clock,
    limits,
    newId: () => random.uuid(),
    onFault: (error: unknown) => world.onFault(host.name, 'stream', error),
  };
  const hub = openStreamHub(ports, CONNECTIONS_PER_ACCOUNT);
  hub.start();
  return hub;
}
