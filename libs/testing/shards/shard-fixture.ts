import { MakerProtection } from '#libs/auction/admission/policy/maker-protection.js';
import { PolicyWatch } from '#libs/auction/admission/policy/policy-watch.js';
import { PostgresReservationDesk } from '#libs/auction/admission/risk/postgres-desk.js';
import { PostgresPreflight } from '#libs/auction/admission/risk/postgres-preflight.js';
import type { CreateBody } from '#libs/auction/rules/commands.js';
import { PostgresSettlement } from '#libs/auction/settlement/postgres-settlement.js';
import { IdFactory } from '#libs/auction/shard/ids.js';
import type { ShardPorts, ShardSettings } from '#libs/auction/shard/shard-ports.js';
import { composeShard } from '#libs/auction/shard/compose-shard.js';
import type { Shard } from '#libs/auction/shard/shard.js';
import { HistoryTable } from '#libs/auction/shard/histories/history-table.js';
import { PostgresJournal } from '#libs/journal/postgres/postgres-journal.js';
import { PostgresJournalReader } from '#libs/journal/postgres/postgres-reader.js';
import { PostgresSnapshotStore } from '#libs/journal/postgres/postgres-snapshots.js';
import { RecordMacs } from '#libs/journal/seals/record-macs.js';
import { SealedSnapshots, type RefusedSnapshot } from '#libs/journal/sealed-snapshots.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest, ReadPreferences } from '#libs/auction/protocol/protocol.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { CompletedReader } from '#libs/auction/projections/completed-reader.js';
import { eventually } from '../eventually.js';
import { createOrder, keyLeadingTo, type CreateOrder } from './shard-orders.js';
import { accountOf, RAIN, type ShardWorld } from './shard-world.js';
import { SteeredWriter } from '../journals/steered-writer.js';

const ID_KEY = Buffer.alloc(32, 7);
/** The MACs of an owner, for code that writes in its place. */
export const SEALS = new RecordMacs('auction', [ID_KEY]);

/** So wide that no test reaches a limit by chance. */
const SETTINGS: ShardSettings = {
  activeAuctionLimit: 100,
  commandsPerMakerLimit: 100,
  limitsFactor: 10_000,
  snapshotEvery: 1_000_000,
  maxClockOffsetMillis: 1_000,
  maxProjectionLagEvents: 1_000_000,
  maxProjectionLagMillis: 1_000_000_000,
};

const GATEWAY: ReadPreferences = { activeOnly: true, readFallback: false };

export interface FixtureOptions {
  readonly settings?: Partial<ShardSettings>;
  readonly ports?: Partial<ShardPorts>;
}

export interface ShardAnswer {
  readonly status: number;
  readonly text: string;
  /** The parsed body, or an empty object. */
  readonly body: Record<string, unknown>;
}

/** The clock of one process: once the process is killed, its timers do nothing. */
class ProcessClock implements Clock {
  private dead = false;

  constructor(private readonly clock: Clock) {}

  epochNanos(): bigint {
    return this.clock.epochNanos();
  }

  monotonicNanos(): bigint {
    return this.clock.monotonicNanos();
  }

  after(millis: number, action: () => void): Cancel {
    return this.clock.after(millis, () => {
      if (!this.dead) action();
    });
  }

  die(): void {
    this.dead = true;
  }
}

interface LiveParts {
  readonly writer: SteeredWriter;
  readonly clock: ProcessClock;
  readonly desk: PostgresReservationDesk;
  readonly policy: PolicyWatch;
  readonly failures: unknown[];
  readonly refused: RefusedSnapshot[];
  readonly faults: { readonly what: string; readonly error: unknown }[];
}

/** A shard with all its parts as in production. The test controls only the time and the appends to the journal. */
export class LiveShard {
  private constructor(
    readonly world: ShardWorld,
    readonly shard: Shard,
    private readonly parts: LiveParts,
  ) {}

  static async open(world: ShardWorld, number = 0, options: FixtureOptions = {}): Promise<LiveShard> {
    const { pool, url } = world.database;
    const clock = new ProcessClock(world.clock);
    const journal = new PostgresJournal({
      family: 'auction',
      url,
      clock,
      opener: `shard-${number}`,
      seals: SEALS,
    });
    const writer = new SteeredWriter(await journal.open(number));
    const { epoch } = writer.head;
    const desk = await PostgresReservationDesk.open({ url, shard: number, epoch, clock, random: () => 0.5 });
    const policy = new PolicyWatch(pool, clock);
    await policy.start();
    const settlement = new PostgresSettlement(pool, clock, () => 0.5);
    const parts: LiveParts = { writer, clock, desk, policy, failures: [], faults: [], refused: [] };
    const shard = composeShard({
      shard: number,
      clock,
      writer,
      reader: new PostgresJournalReader(pool, 'auction'),
      snapshots: new SealedSnapshots({
        family: 'auction',
        store: new PostgresSnapshotStore(pool, 'auction'),
        keys: [ID_KEY],
        onRefused: (refused) => parts.refused.push(refused),
      }),
      desk,
      preflight: new PostgresPreflight(pool, clock),
      policy,
      ids: new IdFactory(ID_KEY),
      completed: new CompletedReader(pool),
      histories: new HistoryTable(pool, number),
      conclusion: settlement,
      protection: new MakerProtection(pool),
      peers: new Map(),
      referenceNanos: () => Promise.resolve(world.clock.trueEpochNanos()),
      journalHasRoom: () => Promise.resolve(true),
      meter: { command: () => undefined, appended: () => undefined },
      announce: () => undefined,
      onJournalFailure: (error) => parts.failures.push(error),
      onFault: (what, error) => parts.faults.push({ what, error }),
      ...options.ports,
      settings: { ...SETTINGS, ...options.settings },
    });
    await shard.start();
    return new LiveShard(world, shard, parts);
  }

  get writer(): SteeredWriter {
    return this.parts.writer;
  }

  get desk(): PostgresReservationDesk {
    return this.parts.desk;
  }

  /** Failures for which the process would have ended. */
  get failures(): readonly unknown[] {
    return this.parts.failures;
  }

  /** Snapshots that were found and not used. */
  get refused(): readonly RefusedSnapshot[] {
    return this.parts.refused;
  }

  get faults(): LiveParts['faults'] {
    return this.parts.faults;
  }

  /** The version of the policy that this shard knows. */
  get policyVersion(): number | undefined {
    const current = this.parts.policy.current();
    return current.ok ? current.snapshot.version : undefined;
  }

  async ask(request: OwnerRequest, peer: Partial<ReadPreferences> = {}): Promise<ShardAnswer> {
    return answerOf(await this.shard.handle(request, { ...GATEWAY, ...peer }));
  }

  /** Opens an auction of ten rain contracts for a minute, and returns its id. Throws if it is refused. */
  async opens(originator = 'olga', different: Partial<CreateBody> = {}): Promise<string> {
    const { body, status, text } = await this.ask(this.createOrder(originator, different));
    if (status !== 201) throw new Error(`the auction was not opened: ${status} ${text}`);
    return String(body.auction_id);
  }

  createOrder(originator = 'olga', different: Partial<CreateBody> = {}): CreateOrder {
    const account = accountOf(originator);
    return createOrder(account, keyLeadingTo(this.writer.shard, account), rainAuction(different));
  }

  /** Lets time pass, and waits until the shard has noticed. */
  async leap(millis: number): Promise<void> {
    this.world.clock.leap(millis);
    await this.settled();
  }

  /** Waits until the policy has been read after the last leap. */
  async settled(): Promise<void> {
    await eventually(() => {
      if (!this.parts.policy.current().ok) throw new Error('the policy has not been read yet');
    });
  }

  /** Stops as after SIGTERM. */
  async stop(): Promise<void> {
    await this.shard.stop();
    await this.writer.close();
    await this.parts.desk.close();
    this.parts.policy.stop();
    this.parts.clock.die();
  }

  /** Ends as after kill -9: nothing is finished, and nothing more is written. */
  kill(): void {
    this.parts.clock.die();
    this.parts.policy.stop();
    this.writer.loseNext('not written');
  }
}

export function answerOf({ status, body }: LinkReply): ShardAnswer {
  return { status, text: body, body: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>) };
}

export function rainAuction(different: Partial<CreateBody> = {}): CreateBody {
  return {
    side: 'BUY',
    quantity_atoms: 10_000_000,
    routes: [RAIN],
    allocation: 'SPLIT',
    duration_ms: 60_000,
    audience: { market_maker_ids: ['mia', 'max', 'moe'].map(accountOf) },
    ...different,
  };
}
