import type { Pool } from 'pg';
import type { Journal, JournalHealth, JournalReader, JournalWriter } from '#libs/journal/journal.js';
import { type JournalTail, tail } from '#libs/journal/tail.js';
import type { OnFault } from '#libs/platform/process/log.js';
import { type Clock, pause } from '#libs/platform/time/clock.js';
import { Projector, transactionsOf } from '#libs/projecting/projector.js';
import type { StoredMarket } from '../store/market-table.js';
import type { BookKeeper } from './book-keeper.js';
import { identityProjection } from './identities.js';
import { IngestWriter, type TakenEvents } from './ingest-writer.js';
import { KnownIdentities } from './known-identities.js';
import { dataProjection, type RefusedEvent } from './projection.js';
import type { SourceBatch } from './source.js';

/** The most records in one transaction of the projector. */
const BATCH = 5_000;
const MOST_IN_MEMORY = 100_000;
const WAIT_MILLIS = 20;
/** Followers get a hint for every append. Polling only finds what a hint missed. */
const POLL_MILLIS = { min: 50, max: 1_000 };

export interface ShardIngestPorts {
  readonly pool: Pool;
  readonly journal: Journal;
  readonly reader: JournalReader;
  readonly clock: Clock;
  /** Undefined for a journal without books. */
  readonly books: BookKeeper | undefined;
  readonly onFault: OnFault;
  readonly onRefused: (reason: string) => void;
}

/** One journal of market data: its writer, and the two projections that follow it. */
export class ShardIngest {
  readonly writer: IngestWriter;
  private readonly identities: KnownIdentities;
  private readonly identityTail: JournalTail;
  private readonly projector: Projector<StoredMarket>;
  private projectorTail: JournalTail | undefined;
  private applied = 0;

  private constructor(
    readonly shard: number,
    private readonly journal: JournalWriter,
    private readonly ports: ShardIngestPorts,
    start: { readonly identified: number; readonly cursors: ReadonlyMap<string, string> },
  ) {
    const { pool, clock, books, onRefused } = ports;
    this.identities = new KnownIdentities(pool, shard);
    this.writer = new IngestWriter({
      ...{ journal, clock, cursors: start.cursors, identities: this.identities },
      onBooks: async (events, isLive) => {
        await books?.take(events);
        if (!isLive) await books?.flush();
      },
      onRefused: ({ type, source_id }, reason) => onRefused(`${type} ${source_id}: ${reason}`),
    });
    const refused = ({ sequence, reason }: RefusedEvent): void =>
      onRefused(`record ${String(sequence)}: ${reason}`);
    this.projector = new Projector(dataProjection(refused), { inTransaction: transactionsOf(pool), clock });
    this.identityTail = this.followIdentities(start.identified);
  }

  /** Becomes the only writer. Resolves after all identities in the journal are known. */
  static async open(shard: number, ports: ShardIngestPorts): Promise<ShardIngest> {
    const journal = await ports.journal.open(shard);
    try {
      const { sequence: to } = journal.head;
      const inTransaction = transactionsOf(ports.pool);
      const projector = new Projector(identityProjection, { inTransaction, clock: ports.clock });
      const from = await projector.offsets.position(ports.pool, shard);
      await projector.replay(ports.reader, shard, { from, to });
      return new ShardIngest(shard, journal, ports, {
        identified: to,
        cursors: await cursorsOf(ports.pool, shard),
      });
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  get head(): number {
    return this.journal.head.sequence;
  }

  /** The sequence of the last projected record. */
  get position(): number {
    return this.applied;
  }

  get isPaused(): boolean {
    return this.projectorTail === undefined;
  }

  health(): JournalHealth {
    return this.journal.health();
  }

  /** Starts or resumes projection. */
  async resume(): Promise<void> {
    if (this.projectorTail !== undefined) return;
    const { pool, books } = this.ports;
    this.applied = await this.projector.offsets.position(pool, this.shard);
    this.projectorTail = this.followEvents(this.applied);
    books?.pause(false);
  }

  /** Events are still journaled. Resolves when projection has stopped. */
  async pause(): Promise<void> {
    const running = this.projectorTail;
    this.projectorTail = undefined;
    this.ports.books?.pause(true);
    await running?.stop();
  }

  /** Waits if the table of identities lags too far: identities not yet in it take memory. */
  async take(source: string, batch: SourceBatch): Promise<TakenEvents> {
    while (this.identities.waiting > MOST_IN_MEMORY) await pause(this.ports.clock, WAIT_MILLIS);
    const taken = await this.writer.take(source, batch);
    this.identityTail.hint(this.shard, taken.sequence);
    this.projectorTail?.hint(this.shard, taken.sequence);
    return taken;
  }

  /** Records that are not projected yet are projected after the next open. */
  async stop(): Promise<void> {
    await this.projectorTail?.stop();
    await this.identityTail.stop();
    await this.ports.books?.flush().catch((error: unknown) => this.ports.onFault('books', error));
    await this.journal.close();
  }

  private followIdentities(position: number): JournalTail {
    const { pool, clock } = this.ports;
    const projector = new Projector(identityProjection, { inTransaction: transactionsOf(pool), clock });
    return this.follow('identities', position, async (entries) => {
      this.identities.stored(await projector.take(this.shard, entries));
    });
  }

  private followEvents(position: number): JournalTail {
    return this.follow('projector', position, async (entries) => {
      this.applied = await this.projector.take(this.shard, entries);
    });
  }

  private follow(
    what: string,
    position: number,
    onEntries: (entries: Parameters<Projector<never>['take']>[1]) => Promise<void>,
  ): JournalTail {
    const { reader, clock, onFault } = this.ports;
    return tail({
      ...{ reader, clock, batch: BATCH, pollMillis: POLL_MILLIS },
      positions: new Map([[this.shard, position]]),
      onEntries: (_shard, entries) => onEntries(entries),
      onFailure: (error) => onFault(`${what} of shard ${String(this.shard)}`, error),
    });
  }
}

async function cursorsOf(pool: Pool, shard: number): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ source: string; cursor: string }>(
    'select source, cursor from data.cursors where shard = $1',
    [shard],
  );
  return new Map(rows.map(({ source, cursor }) => [source, cursor]));
}
