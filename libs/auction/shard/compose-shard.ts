import { type Instant, nanosFromInstant } from '#libs/base/instant.js';
import { quietly } from '#libs/platform/process/log.js';
import { pause } from '#libs/platform/time/clock.js';
import { CommandLoop, type EntityMemory, type Reservations } from '#libs/shard/command-loop.js';
import { CapacityWatch } from '#libs/shard/conditions/capacity-watch.js';
import { ClockWatch } from '#libs/shard/conditions/clock-watch.js';
import { Conditions } from '#libs/shard/conditions/conditions.js';
import { ProjectionWatch } from '#libs/shard/conditions/projection-watch.js';
import { InFlightCommands } from '#libs/shard/in-flight-commands.js';
import { JournalProgress } from '#libs/shard/journal-progress.js';
import { LeadershipCheck } from '#libs/shard/leadership-check.js';
import { SnapshotKeeper } from '#libs/shard/snapshot-keeper.js';
import { ReservationFault } from '../admission/reservation-desk.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { encodeEvent } from '../rules/event-versions.js';
import { AuctionDeadlines } from './auction-deadlines.js';
import { type AuctionTypes, REPEATS, type Submit, UNAVAILABLE } from './auction-task.js';
import { composeTokens, QuoteMeter } from './auction-tokens.js';
import { AwardCount } from './award-count.js';
import { CommandAdmission } from './command-admission.js';
import { CommitHandler } from './commit-handler.js';
import { ConnectionBook } from './connections/connection-book.js';
import { ConnectionDesk } from './connections/connection-desk.js';
import { AuctionBook } from './memory/auction-book.js';
import { Retirement } from './memory/retirement.js';
import { StoredAnswers } from './memory/stored-answers.js';
import { OperatorDesk } from './operator-desk.js';
import { PendingAwards } from './pending-awards.js';
import { PolicyDesk } from './policy-desk.js';
import { Preflights } from './preflights.js';
import { ProtectionEnforcer } from './protection-enforcer.js';
import { Reads } from './reads.js';
import { SNAPSHOT_FORMAT, writeMoment } from './recovery/shard-snapshot.js';
import { releasesOf } from './releases.js';
import { type OwnerMemory, Shard } from './shard.js';
import { ShardOperations } from './shard-operations.js';
import type { ShardPorts } from './shard-ports.js';
import type { ShardContext } from './tasks/shard-context.js';

/** How long a reply waits until its releases are written. After that they are written in the background. */
const RELEASE_PATIENCE_MILLIS = 250;

/** Wires one auction shard. Adapters come in through the ports; every other object is created here. */
export function composeShard(ports: ShardPorts): Shard {
  // Memory
  const memory = composeMemory(ports);
  const { book, progress, stored, awards } = memory;
  const conditions = composeConditions(ports, memory);
  const leadership = new LeadershipCheck(ports);
  const now = (): Instant => progress.nowAt(conditions.clock.epochNanos());
  const durableHead = (): number => progress.durableHead;
  const projectedTo = (): number => conditions.projection.projectedTo;

  // Context of the tasks
  const connectionBook = new ConnectionBook();
  const count = new AwardCount({ ...ports, onFault: faultsOf(ports, 'protection') });
  const context = composeContext(ports, book, conditions, connectionBook, count);

  // Timers and protection: they submit tasks of their own
  const submit: Submit = (task) => loop.submit(task);
  const deadlines = new AuctionDeadlines({ ...ports, context, count, book, now, submit });
  const connections = new ConnectionDesk({
    ...ports,
    context,
    auctions: book,
    connections: connectionBook,
    submit,
  });
  const enforcer = new ProtectionEnforcer({ ...ports, context, book, submit });

  // Loop
  const commits = new CommitHandler({ ...ports, ...memory, leadership, deadlines, connections });
  const loop = composeLoop(ports, book, now, commits);

  // Admission
  const { exchange: tokens, home } = composeTokens(ports);
  const admission = new CommandAdmission({
    ...ports,
    find: (account, auctionId) => book.findFor(account, auctionId),
    inFlight: new InFlightCommands(ports.clock, REPEATS),
    stored,
    durableHead,
    tokens,
    perAuction: new QuoteMeter(ports.clock, ports.settings.limitsFactor),
    now,
    conditions,
  });

  // Reads
  const reads = new Reads({ ...ports, book, stored, projectedTo, durableHead });
  const preflights = new Preflights({ ...ports, context, desk: ports.preflight, conditions, now });

  // Operations
  const status = (): LinkReply => shard.status();
  const operators = new OperatorDesk({ ...ports, context, book, conditions, submit, status });
  const reading = { reads, preflights, awards };
  const writing = { admission, submit, operators, connections, tokens, home };
  const operations = new ShardOperations({ ...ports, context, ...reading, ...writing, status });
  const working = { loop, commits, deadlines, connections, enforcer, count, operations };
  const shard: Shard = new Shard({ ports, memory, conditions, leadership, ...working });
  return shard;
}

function composeMemory(ports: ShardPorts): OwnerMemory {
  const { shard, clock, reader, writer, histories, snapshots, settings } = ports;
  const book = new AuctionBook();
  return {
    book,
    stored: new StoredAnswers(shard, reader, histories),
    awards: new PendingAwards(clock),
    progress: new JournalProgress(writer.head.sequence),
    keeper: new SnapshotKeeper({
      shard,
      snapshots,
      format: SNAPSHOT_FORMAT,
      write: writeMoment,
      every: settings.snapshotEvery,
      onFault: faultsOf(ports, 'snapshot'),
    }),
    retirement: new Retirement({ book, histories, clock, onFault: faultsOf(ports, 'retirement') }),
  };
}

function composeConditions(ports: ShardPorts, { progress, retirement, stored }: OwnerMemory): Conditions {
  const { clock, settings, completed, shard } = ports;
  return new Conditions(
    new ClockWatch({
      clock,
      reference: ports.referenceNanos,
      lastEventNanos: () => nanosFromInstant(progress.lastEventAt),
      maxOffsetMillis: settings.maxClockOffsetMillis,
    }),
    new ProjectionWatch({
      clock,
      position: () => completed.position(shard),
      head: () => progress.durableHead,
      onProgress: (projectedTo) => {
        retirement.projected(projectedTo);
        stored.forget(projectedTo);
      },
      maxLagEvents: settings.maxProjectionLagEvents,
      maxLagMillis: settings.maxProjectionLagMillis,
    }),
    new CapacityWatch({ clock, hasRoom: ports.journalHasRoom }),
  );
}

function composeContext(
  { ids, policy, settings, clock }: ShardPorts,
  book: AuctionBook,
  conditions: Conditions,
  connections: ConnectionBook,
  count: AwardCount,
): ShardContext {
  return {
    book,
    ids,
    policy: new PolicyDesk(policy, ids, clock, count),
    connections,
    clockIsSound: () => conditions.clock.isSound(),
    activeAuctionLimit: settings.activeAuctionLimit * settings.limitsFactor,
    commandsPerMakerLimit: settings.commandsPerMakerLimit * settings.limitsFactor,
  };
}

function composeLoop(
  ports: ShardPorts,
  book: AuctionBook,
  now: () => Instant,
  commits: CommitHandler,
): CommandLoop<AuctionTypes> {
  const { writer, clock, meter, onJournalFailure, tracing } = ports;
  return new CommandLoop<AuctionTypes>({
    writer,
    memory: memoryOf(book),
    reservations: reservationsOf(ports),
    encode: encodeEvent,
    now,
    clock,
    onAppended: (records, seconds) => {
      meter.appended(records, seconds);
    },
    onCommitted: (committed) => {
      commits.committed(committed);
    },
    onJournalFailure,
    onUnreserved: faultsOf({ onFault: quietly(ports.onFault, clock) }, 'reservation'),
    tracing,
  });
}

function memoryOf(book: AuctionBook): EntityMemory<AuctionTypes> {
  return {
    apply: (position, event) => {
      if (!('auction_id' in event)) return undefined;
      const before = book.find(event.auction_id)?.head;
      const entity = book.apply({ position, event });
      return { entity, releases: before === undefined ? [] : releasesOf(before, event) };
    },
  };
}

function reservationsOf(ports: ShardPorts): Reservations<AuctionTypes> {
  const { desk, clock } = ports;
  return {
    reserve: (requests) => desk.reserve(requests),
    release: async (releases) => {
      const written = desk.release(releases).catch(faultsOf(ports, 'release'));
      await Promise.race([written, pause(clock, RELEASE_PATIENCE_MILLIS)]);
    },
    isFenced: (error) => error instanceof ReservationFault && error.kind === 'FENCED',
    unavailable: UNAVAILABLE,
  };
}

function faultsOf({ onFault }: Pick<ShardPorts, 'onFault'>, part: string): (error: unknown) => void {
  return (error) => {
    onFault(part, error);
  };
}
