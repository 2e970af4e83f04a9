import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import type { EdgeListener } from '#libs/edge/server/edge-listener.js';
import { identityMigrations } from '#libs/identity/migrations/list.js';
import { isUnanswered } from '#libs/platform/database/postgres.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import type { DataSettings } from '#libs/data/api/data-settings.js';
import { openDataApi, type DataApi } from '#libs/data/api/open-data-api.js';
import type { MarketDataEvent } from '#libs/data/rules/events.js';
import type { Provider } from '#libs/data/rules/providers.js';
import { FreshnessTable, type IngestProgress } from '#libs/data/store/freshness-table.js';
import { StartTable } from '#libs/data/store/start-table.js';
import { ADMIN_SECRET, DataCallersWorld, KEY_SECRET, type RequestHeaders } from './data-callers.js';
import { IngestWorld } from './ingest-world.js';

const LOOPBACK = '127.0.0.1';
const MICRO = 1_000n;

const SETTINGS: Omit<DataSettings, 'ports'> = {
  ...{ keySecret: KEY_SECRET, adminSecrets: ['another admin secret, older than that', ADMIN_SECRET] },
  ...{ trustedProxies: [], limitChanges: new Map(), upstreamUrls: {}, upstreamTimeoutMillis: 1_000 },
  snapshotMaxAgeSeconds: 120,
};

export type ListenerName = 'data' | 'companion' | 'stream';

export interface WorldRequest {
  readonly method?: string;
  readonly headers?: RequestHeaders;
  /** An object is sent as JSON. */
  readonly body?: object | string | Buffer;
  readonly on?: ListenerName;
  /** The address of the peer, in the loopback network. */
  readonly from?: string;
}

export interface WorldReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  /** Undefined if the text is not JSON. */
  readonly body: unknown;
}

export interface DataWorldOptions {
  readonly settings?: Partial<Omit<DataSettings, 'ports'>>;
  readonly limitsFactor?: number;
  readonly clock?: Clock;
}

/** The listeners of market data on free ports, over a real database with real callers. Events come in through real ingest. */
export class DataWorld {
  readonly faults: unknown[] = [];
  readonly alarms: string[] = [];
  readonly stopping = new AbortController();
  private api: DataApi | undefined;
  private readonly clock: Clock;

  private constructor(
    readonly ingest: IngestWorld,
    readonly callers: DataCallersWorld,
    private readonly options: DataWorldOptions,
  ) {
    this.clock = options.clock ?? new SystemClock();
  }

  static async open(options: DataWorldOptions = {}): Promise<DataWorld> {
    const ingest = await IngestWorld.make(identityMigrations);
    const callers = await DataCallersWorld.open(ingest.database.url, options.clock ?? new SystemClock());
    const world = new DataWorld(ingest, callers, options);
    await world.listen();
    return world;
  }

  private async listen(): Promise<void> {
    const { clock, options } = this;
    const { data, companion, stream } = (this.api = openDataApi({
      ...{ pool: this.ingest.database.pool, clock, identity: this.callers.ports, newId: randomUUID },
      settings: { ...SETTINGS, ...options.settings },
      limitsFactor: options.limitsFactor ?? 1,
      companionUrl: () => this.url('companion'),
      stopping: this.stopping.signal,
      isOutage: isUnanswered,
      onFault: (error) => this.faults.push(error),
      onAlarm: (_provider, detail) => this.alarms.push(detail),
    }));
    for (const listener of [data, companion, stream]) await listener.listen(0, LOOPBACK);
  }

  /** Listeners of another replica over the same database. */
  async replica(changed: DataWorldOptions['settings'] = {}): Promise<DataWorld> {
    const settings = { ...this.options.settings, ...changed };
    const world = new DataWorld(this.ingest, this.callers, { ...this.options, settings });
    await world.listen();
    return world;
  }

  url(on: ListenerName = 'data'): string {
    return `http://${LOOPBACK}:${portOf(this.listener(on))}`;
  }

  /** Ingests events, and waits until they are applied. */
  async put(provider: Provider, ...events: readonly MarketDataEvent[]): Promise<void> {
    await (await this.ingest.ingestAll(provider, [events])).stop();
  }

  /** Reports the progress of a provider as ingest does; by default applied just now, from a live source. */
  async say(provider: Provider, progress: Partial<IngestProgress> = {}): Promise<void> {
    const asOf = Number(this.clock.epochNanos() / MICRO);
    await new FreshnessTable(this.ingest.database.pool).write(provider, {
      ...{ source: 'practice', state: 'running', isRecorded: false, isQuarantined: false, asOf },
      ...{ newestSourceTs: asOf, journalHead: 0, applied: 0, lagEvents: 0, gaps: 0, conflicts: 0 },
      ...{ quarantined: 0, reachesListing: true, reachesFrom: null, ...progress },
    });
  }

  /** Reports as ingest does that everything is applied that the sources had at the start. */
  async begin(): Promise<void> {
    await new StartTable(this.ingest.database.pool).write(true);
  }

  /** Sends `pathAndQuery` unchanged, encoded or not. */
  ask(
    pathAndQuery: string,
    { method = 'GET', headers = {}, body, on, from }: WorldRequest = {},
  ): Promise<WorldReply> {
    const payload = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          ...{ host: LOOPBACK, port: portOf(this.listener(on ?? 'data')), path: pathAndQuery, method },
          ...{ headers: { ...headers }, agent: false, localAddress: from ?? LOOPBACK },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            const { statusCode: status = 0, headers: answerHeaders } = response;
            resolve({ status, headers: answerHeaders, text, body: jsonIn(text) });
          });
        },
      );
      sent.on('error', reject);
      sent.end(payload);
    });
  }

  private listener(name: ListenerName): EdgeListener {
    if (this.api === undefined) throw new Error('the world is not open');
    return this.api[name];
  }

  /** Drains like a process that stops. */
  async stop(): Promise<void> {
    this.stopping.abort();
    for (const name of ['data', 'companion', 'stream'] as const) await this.listener(name).close();
    await this.api?.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.callers.close();
    await this.ingest.end();
  }
}

function portOf({ server }: EdgeListener): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return address.port;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
