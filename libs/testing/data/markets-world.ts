import { withTransaction } from '#libs/platform/database/postgres.js';
import { ADMIN_SECRET } from './data-callers.js';
import { DataWorld, type WorldReply } from './data-world.js';
import { applied, takeAll } from './ingest-world.js';
import { openPlayedVenue, type PlayedVenue } from './played-venue.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { MarketDataEvent } from '#libs/data/rules/events.js';
import { REGISTERED, type Provider } from '#libs/data/rules/providers.js';
import { isoTime } from '#libs/data/rules/times.js';
import { BookTable } from '#libs/data/store/book-table.js';
import { FlagTable } from '#libs/data/store/flag-table.js';
import { SnapshotTable } from '#libs/data/store/snapshot-table.js';
import { microsNow } from '#libs/data/api/moments.js';

type Ingest = Awaited<ReturnType<DataWorld['ingest']['open']>>;

const TIMEOUT_MILLIS = 300;

/**
 * Market data as it is served, and a venue for live reads. Providers are applied up to different moments, so that replies show
 * whose data they have.
 */
export class MarketsWorld {
  readonly books: BookTable;
  readonly flags: FlagTable;
  private readonly snapshots = new SnapshotTable();
  private readonly lanes = new Map<Provider, Ingest>();
  private readonly start: number;

  private constructor(
    readonly data: DataWorld,
    readonly venue: PlayedVenue,
    readonly clock: MovableClock,
  ) {
    this.books = new BookTable(data.ingest.database.pool);
    this.flags = new FlagTable(data.ingest.database.pool);
    this.start = microsNow(clock);
  }

  static async open(): Promise<MarketsWorld> {
    const venue = await openPlayedVenue();
    const clock = new MovableClock();
    // No server listens for venue D, and venue E has no address.
    const upstreamUrls = {
      venue_a: venue.url,
      venue_b: venue.url,
      venue_c: venue.url,
      venue_d: 'http://127.0.0.1:9',
    };
    const settings = { upstreamUrls, upstreamTimeoutMillis: TIMEOUT_MILLIS };
    const data = await DataWorld.open({ settings, clock, limitsFactor: 100 });
    const world = new MarketsWorld(data, venue, clock);
    for (const provider of REGISTERED) await data.say(provider, { asOf: world.appliedAt(provider) });
    return world;
  }

  async close(): Promise<void> {
    await this.data.close();
    await this.venue.close();
    this.clock.forgetTimers();
  }

  now(): number {
    return microsNow(this.clock);
  }

  async put(provider: Provider, ...events: MarketDataEvent[]): Promise<void> {
    const lane = this.lanes.get(provider) ?? (await this.data.ingest.ingestAll(provider, []));
    this.lanes.set(provider, lane);
    await takeAll(lane, [events]);
    await applied(lane);
  }

  async snapshot(provider: Provider): Promise<void> {
    await withTransaction(this.data.ingest.database.pool, 'read committed', (client) =>
      this.snapshots.renew(client, provider, this.now()),
    );
  }

  get(
    path: string,
    parameters: Readonly<Record<string, string | number | boolean>> = {},
  ): Promise<WorldReply> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    return this.data.ask(`${path}?${query.toString()}`, { headers: ADMIN });
  }

  post(path: string, body: object): Promise<WorldReply> {
    return this.data.ask(path, { headers: ADMIN, method: 'POST', body });
  }

  /** The moment up to which the slowest of these providers is applied, as replies show it. */
  asOf(...providers: Provider[]): string {
    return isoTime(Math.min(...providers.map((provider) => this.appliedAt(provider))));
  }

  private appliedAt(provider: Provider): number {
    return this.start - (1 + REGISTERED.indexOf(provider)) * 1_000_000;
  }
}

const ADMIN = { 'x-admin-secret': ADMIN_SECRET };
