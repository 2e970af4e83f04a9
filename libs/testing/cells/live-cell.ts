import { randomBytes } from 'node:crypto';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { PostgresSnapshotStore } from '#libs/journal/postgres/postgres-snapshots.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { SealedSnapshots } from '#libs/journal/sealed-snapshots.js';
import { VaultTransfers } from '#libs/ledger/vault-transfers.js';
import type { Cell } from '#libs/execution/cell/cell.js';
import type { CellSettings } from '#libs/execution/cell/cell-ports.js';
import { composeCell } from '#libs/execution/cell/compose-cell.js';
import type { CellRequest } from '#libs/execution/protocol/cell-protocol.js';
import type { CellReplies } from '#libs/execution/protocol/cell-replies.js';
import { decodeCellEvent } from '#libs/execution/protocol/event-codec.js';
import { fromWire, toWire } from '#libs/execution/protocol/wire.js';
import type { CellEvent } from '#libs/execution/rules/events.js';
import type { Switch } from '#libs/execution/rules/modes.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import type { TestDatabase } from '../database/test-database.js';
import { SteeredWriter } from '../journals/steered-writer.js';
import type { MovableClock } from '../movable-clock.js';

const KEY = Buffer.alloc(32, 7);
const CELL = 0;
const SETTINGS: CellSettings = { limitsFactor: 10_000, snapshotEvery: 1_000_000, stalledAfterMillis: 60_000 };

/** The clock of one process: once the process is killed, its timers do nothing. */
class MortalClock implements Clock {
  isDead = false;

  constructor(private readonly clock: Clock) {}

  epochNanos(): bigint {
    return this.clock.epochNanos();
  }

  monotonicNanos(): bigint {
    return this.clock.monotonicNanos();
  }

  after(millis: number, action: () => void): Cancel {
    return this.clock.after(millis, () => {
      if (!this.isDead) action();
    });
  }
}

/** The switches that operators have set, for all cells of a test. */
export class Operators {
  switches: readonly Switch[] = [];

  read(): Promise<readonly Switch[]> {
    return Promise.resolve(this.switches);
  }
}

export interface CellWorld {
  readonly database: TestDatabase;
  readonly clock: MovableClock;
  readonly operators: Operators;
}

/** The requests of one operation. Some operations share a shape. */
type RequestOf<Op, Request = CellRequest> = Request extends { readonly op: infer Ops }
  ? Op extends Ops
    ? Omit<Request, 'op'> & { readonly op: Op }
    : never
  : never;

export interface ReadAnswer<Op extends keyof CellReplies> {
  readonly status: number;
  readonly body: CellReplies[Op];
  /** The code of a refusal. */
  readonly code: string | undefined;
}

/** A cell over a real journal. The test controls only the time and the appends to the journal. */
export class LiveCell {
  readonly failures: unknown[] = [];
  readonly faults: { readonly part: string; readonly error: unknown }[] = [];

  private constructor(
    private readonly world: CellWorld,
    readonly cell: Cell,
    readonly writer: SteeredWriter,
    private readonly clock: MortalClock,
  ) {}

  static async open(world: CellWorld, settings: Partial<CellSettings> = {}): Promise<LiveCell> {
    const { pool, url } = world.database;
    const clock = new MortalClock(world.clock);
    const seals = new RecordMacs('execution', [KEY]);
    const journal = new PostgresJournal({ family: 'execution', url, clock, opener: 'cell-0', seals });
    const writer = new SteeredWriter(await journal.open(CELL));
    const opened: { live?: LiveCell } = {};
    const cell = composeCell({
      isOurs: () => true,
      ...{ cell: CELL, clock, random: randomBytes, writer },
      reader: new PostgresJournalReader(pool, 'execution'),
      snapshots: new SealedSnapshots({
        ...{ family: 'execution', store: new PostgresSnapshotStore(pool, 'execution'), keys: [KEY] },
        onRefused: () => undefined,
      }),
      switches: world.operators,
      vault: new VaultTransfers(pool),
      meter: { command: () => undefined, appended: () => undefined },
      announce: () => undefined,
      settings: { ...SETTINGS, ...settings },
      onJournalFailure: (error) => opened.live?.failures.push(error),
      onFault: (part, error) => opened.live?.faults.push({ part, error }),
    });
    const live = new LiveCell(world, cell, writer, clock);
    opened.live = live;
    await cell.start();
    return live;
  }

  /** Sends the request as over a link: request and reply are encoded and decoded. */
  async ask<Op extends keyof CellReplies & CellRequest['op']>(
    request: RequestOf<Op>,
  ): Promise<ReadAnswer<Op>> {
    const asked = fromWire(toWire(request)) as CellRequest;
    const { status, body } = await this.cell.handle(asked);
    const read = fromWire(body) as CellReplies[Op] & { code?: string };
    return { status, body: read, code: status === 200 ? undefined : read.code };
  }

  /** All events in the journal. */
  async journaled(): Promise<CellEvent[]> {
    const reader = new PostgresJournalReader(this.world.database.pool, 'execution');
    const records = await reader.read(CELL, 1, 100_000);
    return records.flatMap(({ kind, payload }) => (kind === 'event' ? [decodeCellEvent(payload)] : []));
  }

  /** Ends the process in the middle of its work. */
  kill(): void {
    this.clock.isDead = true;
    void this.writer.close().catch(() => undefined);
  }

  async stop(): Promise<void> {
    await this.cell.stop();
    this.clock.isDead = true;
    await this.writer.close();
  }
}
