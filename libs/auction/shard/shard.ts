import { instantFromNanos, nanosFromInstant, type Instant } from '#libs/base/instant.js';
import { fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest, ReadPreferences } from '../protocol/protocol.js';
import { quietly } from '#libs/platform/process/quiet-faults.js';
import { pause } from '#libs/platform/time/clock.js';
import { Attendance } from './attendance.js';
import { AwardCount } from './award-count.js';
import { AuctionBook, type Entry } from './memory/auction-book.js';
import { AccountBuckets, QuoteMeter } from '#libs/shard/tokens/buckets.js';
import { CommandLoop, type Committed } from '#libs/shard/command-loop.js';
import { CommandsInWork } from '#libs/shard/commands-in-work.js';
import { ConnectionBook } from './connections/connection-book.js';
import { ConnectionDesk } from './connections/connection-desk.js';
import { CapacityWatch } from '#libs/shard/conditions/capacity-watch.js';
import { ClockWatch } from '#libs/shard/conditions/clock-watch.js';
import { Conditions } from '#libs/shard/conditions/conditions.js';
import { ProjectionWatch } from '#libs/shard/conditions/projection-watch.js';
import { Guardian } from './guardian.js';
import { Intake } from './intake.js';
import { OperatorDesk } from './operator-desk.js';
import { PendingAwards } from './pending-awards.js';
import { PolicyDesk } from './policy-desk.js';
import { Preflights } from './preflights.js';
import { Reads } from './reads.js';
import { holdsByAccount, recover, type Recovered } from './recovery/recovery.js';
import type { Release } from './releases.js';
import { Retirement } from './memory/retirement.js';
import type { ShardPorts } from './shard-ports.js';
import { isRefusedForGood, ShardOperations } from './shard-operations.js';
import { momentOf } from './recovery/shard-snapshot.js';
import { SnapshotKeeper } from '#libs/shard/snapshot-keeper.js';
import { StoredAnswers } from './memory/stored-answers.js';
import type { ShardContext } from './tasks/shard-context.js';
import { Tenure } from '#libs/shard/tenure.js';
import { TokenExchange } from '#libs/shard/tokens/token-exchange.js';
import { TokenHome } from '#libs/shard/tokens/token-home.js';

/** How long an answer waits for its releases to be written; what is set free is free for everyone by then, or soon after. */
const RELEASE_PATIENCE_MILLIS = 250;
const NANOS_PER_MILLI = 1_000_000n;
const UNAVAILABLE = fault(503, 'auction_owner_unavailable');

/** What this process read at its start, and how long that took. */
interface RestoredWork {
  readonly events: number;
  readonly ms: number;
}

/** One auction shard: memory, rules, journal and reservations put together. Adapters come in through its ports. */
export class Shard {
  readonly book = new AuctionBook();
  readonly conditions: Conditions;
  private readonly stored: StoredAnswers;
  private readonly awards: PendingAwards;
  private readonly keeper: SnapshotKeeper;
  private readonly loop: CommandLoop;
  private readonly attendance: Attendance;
  private readonly count: AwardCount;
  private readonly guardian: Guardian;
  private readonly tenure: Tenure;
  private readonly retirement: Retirement;
  private readonly connections: ConnectionDesk;
  private restored: RestoredWork = { events: 0, ms: 0 };
  private readonly operations: ShardOperations;
  private lastEventAt: Instant = instantFromNanos(0n);
  /** The last moment that anything was decided at. */
  private latest: Instant = this.lastEventAt;
  private durableHead: number;

  constructor(private readonly ports: ShardPorts) {
    this.durableHead = ports.writer.head.sequence;
    this.stored = new StoredAnswers(ports.shard, ports.reader, ports.histories);
    this.awards = new PendingAwards(ports.clock);
    this.keeper = new SnapshotKeeper({
      shard: ports.shard,
      snapshots: ports.snapshots,
      every: ports.settings.snapshotEvery,
      onFault: (error) => {
        ports.onFault('snapshot', error);
      },
    });
    this.retirement = new Retirement({
      ...ports,
      book: this.book,
      onFault: (error) => {
        ports.onFault('retirement', error);
      },
    });
    this.conditions = this.watchConditions();
    this.tenure = new Tenure(ports);
    this.count = new AwardCount({
      ...ports,
      onFault: (error) => {
        ports.onFault('protection', error);
      },
    });
    const connections = new ConnectionBook();
    const context = this.context(connections);
    const onFault = quietly(ports.onFault, ports.clock);
    this.loop = new CommandLoop({
      writer: ports.writer,
      desk: ports.desk,
      book: this.book,
      now: () => this.now(),
      clock: ports.clock,
      meter: ports.meter,
      onCommitted: (committed) => {
        this.committed(committed);
      },
      release: (releases) => this.release(releases),
      onJournalFailure: ports.onJournalFailure,
      onUnreserved: (error) => {
        onFault('reservation', error);
      },
      tracing: ports.tracing,
    });
    const submit = this.loop.submit.bind(this.loop);
    const now = (): Instant => this.now();
    this.connections = new ConnectionDesk({ ...ports, context, auctions: this.book, connections, submit });
    this.attendance = new Attendance({ ...ports, context, count: this.count, book: this.book, now, submit });
    this.guardian = new Guardian({ ...ports, context, book: this.book, submit });
    this.operations = this.operate(context, now);
  }

  /** Reads the journal, makes the reservations agree with it, and begins to work. */
  async start(): Promise<Recovered> {
    const { clock, writer } = this.ports;
    const begun = clock.monotonicNanos();
    const { noted } = this.connections;
    const { book, stored } = this;
    const recovered = await recover({ ...this.ports, book, stored, noted, head: writer.head });
    this.keeper.restoredFrom(recovered.snapshotAt);
    this.lastEventAt = recovered.lastEventAt ?? this.lastEventAt;
    this.latest = this.lastEventAt;
    await this.ports.desk.reconcile(holdsByAccount(this.book));
    await this.conditions.start();
    this.loop.start();
    this.connections.start();
    await this.count.recover(this.book.all());
    for (const entry of this.book.all()) this.attend(entry);
    this.guardian.start();
    this.tenure.start();
    const ms = Number((clock.monotonicNanos() - begun) / NANOS_PER_MILLI);
    this.restored = { events: recovered.events, ms };
    this.ports.announce({ head: this.durableHead });
    return recovered;
  }

  async handle(request: OwnerRequest, peer: ReadPreferences): Promise<LinkReply> {
    const { tenure } = this;
    const cameAt = this.ports.clock.monotonicNanos();
    const answer = await this.operations.handle(request, peer);
    const mayBeTold = isRefusedForGood(request, answer)
      ? tenure.isSureSince(cameAt) || (await tenure.isProvenSince(cameAt))
      : tenure.isSure || (await tenure.isProven());
    return mayBeTold ? answer : UNAVAILABLE;
  }

  /** Finishes what was accepted and takes nothing more. */
  async stop(): Promise<void> {
    this.conditions.leave();
    this.connections.stop();
    this.attendance.stop();
    this.guardian.stop();
    this.count.stop();
    this.tenure.stop();
    this.retirement.stop();
    await this.loop.stop();
    await this.keeper.settled();
    this.conditions.stop();
  }

  /** How far its journal has come, and in which epoch. */
  get head(): { readonly epoch: number; readonly sequence: number } {
    return { epoch: this.ports.writer.head.epoch, sequence: this.durableHead };
  }

  get appendingSeconds(): number {
    return this.loop.appendingSeconds;
  }

  get queueDepth(): number {
    return this.loop.depth;
  }

  private watchConditions(): Conditions {
    const { clock, settings, completed, shard } = this.ports;
    return new Conditions(
      new ClockWatch({
        clock,
        reference: this.ports.referenceNanos,
        lastEventNanos: () => nanosFromInstant(this.lastEventAt),
        maxOffsetMillis: settings.maxClockOffsetMillis,
      }),
      new ProjectionWatch({
        clock,
        position: () => completed.position(shard),
        head: () => this.durableHead,
        onProgress: (projectedTo) => {
          this.retirement.projected(projectedTo);
          this.stored.forget(projectedTo);
        },
        maxLagEvents: settings.maxProjectionLagEvents,
        maxLagMillis: settings.maxProjectionLagMillis,
      }),
      new CapacityWatch({ clock, hasRoom: this.ports.journalHasRoom }),
    );
  }

  private context(connections: ConnectionBook): ShardContext {
    const { ids, policy, settings, clock } = this.ports;
    return {
      book: this.book,
      ids,
      policy: new PolicyDesk(policy, ids, clock, this.count),
      connections,
      clockIsSound: () => this.conditions.clock.isSound(),
      activeAuctionLimit: settings.activeAuctionLimit * settings.limitsFactor,
      commandsPerMakerLimit: settings.commandsPerMakerLimit * settings.limitsFactor,
    };
  }

  private operate(context: ShardContext, now: () => Instant): ShardOperations {
    const { clock, peers, shard, settings, completed, preflight, meter, tracing } = this.ports;
    const { limitsFactor } = settings;
    const home = new TokenHome({
      clock,
      limitsFactor,
      peers,
      buckets: new AccountBuckets(clock, limitsFactor),
    });
    const tokens = new TokenExchange({
      clock,
      holder: { shard, life: this.ports.writer.head.epoch },
      peers,
      home,
      alone: new AccountBuckets(clock, limitsFactor, true),
      tracing,
    });
    const intake = new Intake({
      shard,
      find: (account, auctionId): Entry | undefined => this.book.findFor(account, auctionId),
      inWork: new CommandsInWork(clock),
      stored: this.stored,
      completed,
      durableHead: () => this.durableHead,
      tokens,
      perAuction: new QuoteMeter(clock, limitsFactor),
      now,
      paused: (op) => this.conditions.pause(op),
    });
    const reads = new Reads({
      book: this.book,
      stored: this.stored,
      completed,
      projectedTo: () => this.conditions.projection.projectedTo,
      durableHead: () => this.durableHead,
    });
    const preflights = new Preflights({
      context,
      desk: preflight,
      conditions: this.conditions,
      completed,
      now,
    });
    const { book, conditions, loop } = this;
    const status = (): LinkReply => this.status();
    const submit = loop.submit.bind(loop);
    return new ShardOperations({
      context,
      intake,
      reads,
      preflights,
      tokens,
      home,
      loop,
      meter,
      awards: this.awards,
      connections: this.connections,
      operators: new OperatorDesk({ context, book, completed, conditions, submit, status }),
      onFault: this.ports.onFault,
      status,
    });
  }

  private status(): LinkReply {
    const { writer, shard } = this.ports;
    if (!writer.health().ok) return fault(503, 'journal_failed');
    const policy = this.ports.policy.current();
    return reply(200, {
      shard,
      state: this.conditions.draining ? 'DRAINING' : 'ACTIVE',
      epoch: writer.head.epoch,
      journal_head: this.durableHead,
      projection_lag_events: this.conditions.projection.lagEvents,
      active_auctions: this.book.liveCount,
      clock_offset_ms: this.conditions.clock.offsetMillis ?? 0,
      recovery: this.restored,
      // By which policy it judges, so that whoever changes it knows when the change holds here.
      ...(policy.ok ? { policy_version: policy.snapshot.version } : {}),
    });
  }

  /** Never earlier than what was told before, be it journaled or still on its way, so that the journal's times only go forward. */
  private now(): Instant {
    const now = instantFromNanos(this.conditions.clock.epochNanos());
    if (now > this.latest) this.latest = now;
    return this.latest;
  }

  private committed({ entries, events, head, append }: Committed): void {
    if (append !== undefined) {
      this.tenure.proven(append.since);
      this.ports.announce({ head, records: append.records });
    }
    this.durableHead = head;
    for (const [index, event] of events.entries()) {
      if (event.at > this.lastEventAt) this.lastEventAt = event.at;
      this.stored.note(head - events.length + 1 + index, event);
    }
    for (const entry of entries) this.attend(entry);
    this.connections.onEvents(events);
    if (this.keeper.isDue(head)) this.takeSnapshot(head);
  }

  /** Called between two appends: the writer's head is the record that memory stands behind. */
  private takeSnapshot(head: number): void {
    const record = this.ports.writer.head;
    if (record.sequence !== head) return;
    const { lastEventAt, stored, connections } = this;
    const beside = { lastEventAt, answers: stored.recents, connections: connections.noted.all() };
    this.keeper.take(momentOf(head, this.book.all(), beside), record);
  }

  private attend(entry: Entry): void {
    this.attendance.watch(entry);
    this.awards.note(entry);
  }

  private async release(releases: readonly Release[]): Promise<void> {
    const written = this.ports.desk.release(releases).catch((error: unknown) => {
      this.ports.onFault('release', error);
    });
    await Promise.race([written, pause(this.ports.clock, RELEASE_PATIENCE_MILLIS)]);
  }
}
