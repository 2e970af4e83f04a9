import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest, ReadPreferences } from '../protocol/protocol.js';
import type { CommandLoop } from '#libs/shard/command-loop.js';
import type { Conditions } from '#libs/shard/conditions/conditions.js';
import type { JournalProgress } from '#libs/shard/journal-progress.js';
import type { LeadershipCheck } from '#libs/shard/leadership-check.js';
import type { SnapshotKeeper } from '#libs/shard/snapshot-keeper.js';
import type { AuctionDeadlines } from './auction-deadlines.js';
import { UNAVAILABLE, type AuctionTypes } from './auction-task.js';
import type { AwardCount } from './award-count.js';
import type { CommitHandler } from './commit-handler.js';
import type { ConnectionDesk } from './connections/connection-desk.js';
import type { AuctionBook } from './memory/auction-book.js';
import type { Retirement } from './memory/retirement.js';
import type { StoredAnswers } from './memory/stored-answers.js';
import type { PendingAwards } from './pending-awards.js';
import type { ProtectionEnforcer } from './protection-enforcer.js';
import { holdsByAccount, recover, type Recovered } from './recovery/recovery.js';
import type { ShardMoment } from './recovery/shard-snapshot.js';
import { isRefusedForGood, type ShardOperations } from './shard-operations.js';
import type { ShardPorts } from './shard-ports.js';

/** The owner's state in memory, and the parts that snapshot and evict it. */
export interface OwnerMemory {
  readonly book: AuctionBook;
  readonly stored: StoredAnswers;
  readonly awards: PendingAwards;
  readonly progress: JournalProgress;
  readonly keeper: SnapshotKeeper<ShardMoment>;
  readonly retirement: Retirement;
}

/** The objects of one shard, wired by `composeShard`. */
export interface ShardObjects {
  readonly ports: ShardPorts;
  readonly memory: OwnerMemory;
  readonly conditions: Conditions;
  readonly leadership: LeadershipCheck;
  readonly loop: CommandLoop<AuctionTypes>;
  readonly commits: CommitHandler;
  readonly deadlines: AuctionDeadlines;
  readonly connections: ConnectionDesk;
  readonly enforcer: ProtectionEnforcer;
  readonly count: AwardCount;
  readonly operations: ShardOperations;
}

/** One running auction shard. */
export class Shard {
  /** Events that this process read at its start, and how long that took. */
  private recovery = { events: 0, ms: 0 };

  constructor(private readonly objects: ShardObjects) {}

  /** Reads the journal, reconciles the reservations with it, and starts to work. */
  async start(): Promise<Recovered> {
    const { ports, memory, conditions, connections, count } = this.objects;
    const { book, stored, keeper, progress } = memory;
    const startedAt = ports.clock.monotonicNanos();
    const { head } = ports.writer;
    const recovered = await recover({ ...ports, book, stored, noted: connections.noted, head });
    keeper.restoredFrom(recovered.snapshotAt);
    progress.recovered(recovered.lastEventAt);
    await ports.desk.reconcile(holdsByAccount(book));
    await conditions.start();
    this.objects.loop.start();
    connections.start();
    await count.recover(book.all());
    for (const entry of book.all()) this.objects.commits.changed(entry);
    this.objects.enforcer.start();
    this.objects.leadership.start();
    const ms = Number((ports.clock.monotonicNanos() - startedAt) / NANOS_PER_MILLI);
    this.recovery = { events: recovered.events, ms };
    ports.announce({ head: progress.durableHead });
    return recovered;
  }

  /** Answers only while this process is known to own the shard. */
  async handle(request: OwnerRequest, peer: ReadPreferences): Promise<LinkReply> {
    const { leadership, operations, ports } = this.objects;
    const receivedAt = ports.clock.monotonicNanos();
    const answer = await operations.handle(request, peer);
    const mayReply = isRefusedForGood(request, answer)
      ? leadership.isSureSince(receivedAt) || (await leadership.isProvenSince(receivedAt))
      : leadership.isSure || (await leadership.isProven());
    return mayReply ? answer : UNAVAILABLE;
  }

  /** Accepts no more commands, and finishes those that were accepted. */
  async stop(): Promise<void> {
    const { memory, conditions, loop } = this.objects;
    conditions.leave();
    this.objects.connections.stop();
    this.objects.deadlines.stop();
    this.objects.enforcer.stop();
    this.objects.count.stop();
    this.objects.leadership.stop();
    memory.retirement.stop();
    await loop.stop();
    await memory.keeper.settled();
    conditions.stop();
  }

  status(): LinkReply {
    const { ports, memory, conditions } = this.objects;
    const { writer, shard } = ports;
    if (!writer.health().ok) return fault(503, 'journal_failed');
    const policy = ports.policy.current();
    return reply(200, {
      shard,
      state: conditions.draining ? 'DRAINING' : 'ACTIVE',
      epoch: writer.head.epoch,
      journal_head: memory.progress.durableHead,
      projection_lag_events: conditions.projection.lagEvents,
      active_auctions: memory.book.liveCount,
      clock_offset_ms: conditions.clock.offsetMillis ?? 0,
      recovery: this.recovery,
      // The version that this shard applies, so that an operator sees when a change of the policy is in force here.
      ...(policy.ok ? { policy_version: policy.snapshot.version } : {}),
    });
  }

  get book(): AuctionBook {
    return this.objects.memory.book;
  }

  get conditions(): Conditions {
    return this.objects.conditions;
  }

  /** The writer's epoch, and the last durable sequence of the journal. */
  get head(): { readonly epoch: number; readonly sequence: number } {
    const { ports, memory } = this.objects;
    return { epoch: ports.writer.head.epoch, sequence: memory.progress.durableHead };
  }

  get appendingSeconds(): number {
    return this.objects.loop.appendingSeconds;
  }

  get queueDepth(): number {
    return this.objects.loop.depth;
  }
}
