import type { Pool } from 'pg';
import type { Journal, JournalReader } from '#libs/journal/journal.js';
import { type Cancel, type Clock, repeat } from '#libs/platform/time/clock.js';
import { type OnFault, quietly } from '#libs/platform/process/log.js';
import { LABELS_SHARD, PROVIDERS, type Provider } from '../rules/providers.js';
import { type Alarm, AlarmTable, type AlarmKind } from '../store/alarm-table.js';
import { BackfillTable } from '../store/backfill-table.js';
import { BookTable } from '../store/book-table.js';
import { FreshnessTable, type IngestProgress } from '../store/freshness-table.js';
import { PauseTable } from '../store/pause-table.js';
import { gapsOfProvider } from '../store/sequence-table.js';
import { BookKeeper } from './book-keeper.js';
import { IngestLane } from './ingest-lane.js';
import type { SourceFeed } from './source.js';
import { StaleBooks } from './stale-books.js';
import { VolumesApart } from './volumes-apart.js';

export interface DataIngestPorts {
  readonly pool: Pool;
  readonly journal: Journal;
  readonly reader: JournalReader;
  readonly clock: Clock;
  readonly onFault: OnFault;
  /** Called for every stored alarm, with the number of times it was raised since the last round. */
  readonly onAlarm?: (of: string, alarm: Alarm, count: number) => void;
  /** In rounds, which take one second. */
  readonly volumesEvery?: number;
}

/** How often progress is stored and operators' orders are read. */
const EVERY_MILLIS = 1_000;
/** Gaps and stale books are looked for once in this many rounds. */
const CHECK_EVERY = 10;
/** Venues are asked for their volumes once in this many rounds, because each answer lists all markets. */
const VOLUMES_EVERY = 300;
const NANOS_PER_MICRO = 1_000n;
const LABELS = 'labels';

interface Lane {
  readonly lane: IngestLane;
  readonly shard: number;
  readonly provider: Provider | undefined;
  readonly alarms: Map<AlarmKind, { count: number; detail: string }>;
  gaps: number;
  /** Undefined if no live source feeds the provider. */
  readonly staleBooks: StaleBooks | undefined;
  readonly volumesApart: VolumesApart | undefined;
}

/** Runs all ingest: one journal for each provider and one for labels, from the sources to the tables. */
export class DataIngest {
  private readonly freshness: FreshnessTable;
  private readonly alarms: AlarmTable;
  private readonly pauses: PauseTable;
  private readonly backfills: BackfillTable;
  private readonly onFault: OnFault;
  private lanes: readonly Lane[] = [];
  private cancel: Cancel = () => undefined;
  private rounds = 0;
  private round: Promise<void> = Promise.resolve();

  constructor(
    private readonly feeds: readonly SourceFeed[],
    private readonly ports: DataIngestPorts,
  ) {
    const { pool, clock, onFault } = ports;
    this.freshness = new FreshnessTable(pool);
    this.alarms = new AlarmTable(pool);
    this.pauses = new PauseTable(pool);
    this.backfills = new BackfillTable(pool);
    this.onFault = quietly(onFault, clock);
  }

  async start(): Promise<void> {
    const stored = await this.freshness.all();
    const paused = await this.pauses.paused();
    this.lanes = [...PROVIDERS, undefined].map((provider) => this.laneOf(provider, stored));
    for (const { lane, provider } of this.lanes) lane.start(provider !== undefined && paused.has(provider));
    this.cancel = repeat(this.ports.clock, EVERY_MILLIS, () => {
      this.round = this.runRound().catch((error: unknown) => this.onFault('progress', error));
      return this.round;
    });
  }

  async stop(): Promise<void> {
    this.cancel();
    await Promise.all(this.lanes.map(({ lane }) => lane.stop()));
    await this.round;
    await this.runRound().catch((error: unknown) => this.onFault('progress', error));
  }

  /** Whether everything that the sources held at the start is projected. Paused providers do not count. */
  get isCaughtUp(): boolean {
    return (
      this.lanes.length > 0 &&
      this.lanes.every(({ lane }) => lane.isCaughtUp || lane.progress().state === 'paused')
    );
  }

  /** The current progress, by provider and for `labels`. */
  progress(): ReadonlyMap<string, IngestProgress> {
    return new Map(
      this.lanes.map(({ lane, provider, gaps }) => [provider ?? LABELS, { ...lane.progress(), gaps }]),
    );
  }

  private laneOf(provider: Provider | undefined, stored: ReadonlyMap<Provider, IngestProgress>): Lane {
    const { pool, clock } = this.ports;
    const shard = provider === undefined ? LABELS_SHARD : PROVIDERS.indexOf(provider);
    const alarms: Lane['alarms'] = new Map();
    const onFault = this.onFault;
    const lane = new IngestLane({
      ...{ ...this.ports, onFault, shard },
      feeds: this.feeds.filter((feed) => feed.of === (provider ?? LABELS)),
      before: provider === undefined ? undefined : stored.get(provider),
      books:
        provider === undefined
          ? undefined
          : new BookKeeper(provider, new BookTable(pool), {
              clock,
              onFault: (error) => onFault('books', error),
            }),
      onAlarm: (kind, detail) => alarms.set(kind, { count: (alarms.get(kind)?.count ?? 0) + 1, detail }),
      onQuarantine: ({ quarantined: reason, body }) =>
        this.alarms.quarantine(shard, { at: this.now(), reason, body }),
    });
    const gaps = provider === undefined ? 0 : (stored.get(provider)?.gaps ?? 0);
    const isLive = this.feeds.some((feed) => feed.of === provider && feed.source !== 'recorded');
    const staleBooks = provider !== undefined && isLive ? new StaleBooks(pool, provider) : undefined;
    const volumesApart =
      staleBooks === undefined || provider === undefined ? undefined : new VolumesApart(pool, provider);
    return { lane, shard, provider, alarms, gaps, staleBooks, volumesApart };
  }

  private async runRound(): Promise<void> {
    const paused = await this.pauses.paused();
    this.rounds += 1;
    for (const each of this.lanes) {
      const { lane, provider } = each;
      if (provider === undefined) {
        lane.progress();
      } else {
        if (paused.has(provider)) await lane.pause();
        else await lane.resume();
        if (this.rounds % CHECK_EVERY === 0) {
          await this.countGaps(each, provider);
          await this.findStaleBooks(each, paused.has(provider));
        }
        if (this.rounds % (this.ports.volumesEvery ?? VOLUMES_EVERY) === 0) await this.compareVolumes(each);
        await this.freshness.write(provider, { ...lane.progress(), gaps: each.gaps });
      }
      await this.storeAlarms(each);
    }
    await this.startBackfills();
  }

  private async countGaps(each: Lane, provider: Provider): Promise<void> {
    const gaps = await gapsOfProvider(this.ports.pool, provider);
    if (gaps > each.gaps) each.alarms.set('gap', { count: gaps - each.gaps, detail: 'trades are missing' });
    each.gaps = gaps;
  }

  private async findStaleBooks({ alarms, staleBooks }: Lane, isPaused: boolean): Promise<void> {
    if (isPaused) {
      staleBooks?.forget();
      return;
    }
    const [first, ...others] = (await staleBooks?.look(this.now())) ?? [];
    if (first === undefined) return;
    alarms.set('stale_book', { count: 1 + others.length, detail: `the book of ${first} no longer changes` });
  }

  /** Does not compare while events wait: trades that are not applied yet are not missing. */
  private async compareVolumes({ lane, alarms, volumesApart }: Lane): Promise<void> {
    const { state, lagEvents } = lane.progress();
    if (volumesApart === undefined || state !== 'running' || lagEvents > 0) return;
    const [first, ...others] = await volumesApart.find(() =>
      lane.volumes().catch((error: unknown) => {
        this.onFault('volumes', error);
        return undefined;
      }),
    );
    if (first === undefined) return;
    const detail = `${first} traded another volume at its venue than in our trades`;
    alarms.set('volume_apart', { count: 1 + others.length, detail });
  }

  /** Stores one row for all alarms of a kind since the last round. */
  private async storeAlarms({ shard, provider, alarms }: Lane): Promise<void> {
    for (const [kind, { count, detail }] of alarms) {
      alarms.delete(kind);
      const text = count === 1 ? detail : `${detail} (${String(count)} times)`;
      const alarm = { kind, at: this.now(), detail: text };
      this.ports.onAlarm?.(provider ?? LABELS, alarm, count);
      await this.alarms.add(shard, alarm);
    }
  }

  private async startBackfills(): Promise<void> {
    for (const { provider, from, to } of await this.backfills.take()) {
      const { lane } = this.lanes.find((each) => each.provider === provider) ?? {};
      lane
        ?.backfill(from, to ?? this.now())
        .catch((error: unknown) => this.onFault(`backfill of ${provider}`, error));
    }
  }

  private now(): number {
    return Number(this.ports.clock.epochNanos() / NANOS_PER_MICRO);
  }
}
