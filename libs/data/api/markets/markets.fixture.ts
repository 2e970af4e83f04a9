import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import { openPool, withTransaction } from '#libs/platform/database/postgres.js';
import { IngestWorld } from '#libs/testing/data/ingest-world.js';
import { openPlayedVenue, type PlayedVenue } from '#libs/testing/data/played-venue.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { Provider } from '../../rules/providers.js';
import { BookTable } from '../../store/book-table.js';
import { FlagTable } from '../../store/flag-table.js';
import { MarketReader } from '../../store/market-reader.js';
import { PriceReader } from '../../store/price-reader.js';
import { SnapshotReader } from '../../store/snapshot-reader.js';
import { SnapshotTable } from '../../store/snapshot-table.js';
import { VolumeReader } from '../../store/volume-reader.js';
import { DataCaller } from '../callers.js';
import { SealedCursors } from '../cursors.js';
import { dataDialect } from '../dialect.js';
import { KnownFlags } from '../flags/known-flags.js';
import { microsNow } from '../moments.js';
import { Upstreams } from '../upstream/upstream.js';
import { MarketsController } from './markets.controller.js';

export interface MarketsReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

const TIMEOUT_MILLIS = 300;
const MAX_AGE = 120_000_000;

/** The routes of markets over HTTP, a real database that real ingest fills, and a venue for live reads. Everybody may call. */
export class MarketsWorld {
  readonly books: BookTable;
  readonly flags: FlagTable;
  private readonly snapshots = new SnapshotTable();

  private constructor(
    readonly ingest: IngestWorld,
    readonly venue: PlayedVenue,
    readonly clock: MovableClock,
    readonly faults: readonly unknown[],
    private readonly opened: {
      readonly listener: EdgeListener;
      readonly upstreams: Upstreams;
      readonly end: () => Promise<void>;
    },
  ) {
    this.books = new BookTable(ingest.database.pool);
    this.flags = new FlagTable(ingest.database.pool);
  }

  static async open(): Promise<MarketsWorld> {
    const ingest = await IngestWorld.make();
    const venue = await openPlayedVenue();
    const clock = new MovableClock();
    // As the process that answers has it: every look-up by index.
    const pool = openPool(ingest.database.url, { applicationName: 'markets-test', max: 5, looksUp: true });
    const faults: unknown[] = [];
    // Nothing listens for D, and E has no address.
    const urls = {
      venue_a: venue.url,
      venue_b: venue.url,
      venue_c: venue.url,
      venue_d: 'http://127.0.0.1:9',
    };
    const upstreams = new Upstreams(urls, TIMEOUT_MILLIS, clock);
    const listener = new EdgeListener({
      dialect: dataDialect({
        callers: {
          callerOf: () => new DataCaller({ userId: '', kind: 'admin', isInvited: true }),
          isAdmin: () => true,
        },
        addressOf: () => '127.0.0.1',
        counter: { count: () => undefined },
        freshness: {
          note: () => undefined,
          headersFor: ({ shows }) => ({ 'x-shows': [...shows].sort().join() }),
        },
      }),
      authenticator: { authenticate: () => 'unauthorized' },
      clock,
      newRequestId: randomUUID,
      onFault: (error) => faults.push(error),
    });
    listener.mount([
      new MarketsController({
        markets: new MarketReader(pool),
        prices: new PriceReader(pool),
        volumes: new VolumeReader(pool),
        snapshots: new SnapshotReader(pool, MAX_AGE),
        cursors: new SealedCursors('a secret of all replicas'),
        flags: new KnownFlags(new FlagTable(pool), clock),
        live: upstreams,
        companionUrl: () => 'http://companion.example:81',
        clock,
        onFault: (_what, error) => faults.push(error),
      }),
    ]);
    await listener.listen(0, '127.0.0.1');
    return new MarketsWorld(ingest, venue, clock, faults, { listener, upstreams, end: () => pool.end() });
  }

  async close(): Promise<void> {
    const { listener, upstreams, end } = this.opened;
    await listener.close();
    upstreams.close();
    await this.venue.close();
    await end();
    await this.ingest.end();
    this.clock.forgetTimers();
  }

  now(): number {
    return microsNow(this.clock);
  }

  async snapshot(provider: Provider): Promise<void> {
    await withTransaction(this.ingest.database.pool, 'read committed', (client) =>
      this.snapshots.renew(client, provider, this.now()),
    );
  }

  get(
    path: string,
    parameters: Readonly<Record<string, string | number | boolean>> = {},
  ): Promise<MarketsReply> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    return this.ask(`${path}?${query.toString()}`, {});
  }

  post(path: string, body: object): Promise<MarketsReply> {
    return this.ask(path, { method: 'POST', body: JSON.stringify(body) });
  }

  private async ask(target: string, init: RequestInit): Promise<MarketsReply> {
    const { port } = this.opened.listener.server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${String(port)}${target}`, init);
    const body: unknown = await response.json();
    return { status: response.status, headers: response.headers, body };
  }
}
