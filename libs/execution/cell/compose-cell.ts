import type { Instant } from '#libs/base/instant.js';
import { CommandLoop, type Committed } from '#libs/shard/command-loop.js';
import { JournalProgress } from '#libs/shard/journal-progress.js';
import { LeadershipCheck } from '#libs/shard/leadership-check.js';
import { SnapshotKeeper } from '#libs/shard/snapshot-keeper.js';
import { encodeCellEvent } from '../protocol/event-codec.js';
import { isOrderEvent } from '../rules/user.js';
import type { CellPorts } from './cell-ports.js';
import { CELL_SNAPSHOT_FORMAT, momentOf, writeCellMoment, type CellMoment } from './cell-snapshot.js';
import { UNAVAILABLE, type CellTask, type CellTypes } from './cell-task.js';
import { Cell } from './cell.js';
import { ConnectionWatch } from './connection-watch.js';
import { ExecutorCalls } from './executor-calls.js';
import { FormerOrders } from './former-orders.js';
import { Observations } from './observations.js';
import { OrderIds } from './order-ids.js';
import { OpenSockets } from './open-sockets.js';
import { OrderWatch } from './order-watch.js';
import { Outcomes } from './outcomes.js';
import { CellReads } from './cell-reads.js';
import { Slots } from './slots.js';
import { Switchboard } from './switchboard.js';
import { TaskDesk } from './task-desk.js';
import { TraderDesk } from './trader-desk.js';
import { TransferDesk } from './transfer-desk.js';
import { Users } from './users.js';

/** Builds one cell. Adapters come in through the ports, and all other objects are made here. */
export function composeCell(ports: CellPorts): Cell {
  const { clock, settings, writer, onFault } = ports;
  const users = new Users();
  const progress = new JournalProgress(writer.head.sequence);
  const keeper = composeKeeper(ports);
  const leadership = new LeadershipCheck(ports);
  const ids = new OrderIds(ports.cell, ports.random);
  const now = (): Instant => progress.nowAt(clock.epochNanos());
  const durableHead = (): number => progress.durableHead;
  const submit = (task: CellTask): boolean => loop.submit(task);
  const newOrderId = ids.order.bind(ids);
  const newId = (): string => ids.any();

  const slots = new Slots(clock, settings.limitsFactor);
  const switchboard: Switchboard = new Switchboard({
    ...{ clock, switches: ports.switches },
    onChange: () => {
      watch.endUnsent(({ terms }, entry) => switchboard.isSwitchedOff(terms, entry.head.holdings));
      desk.flushSoon();
    },
    onFault: (error) => {
      onFault('switches', error);
    },
  });
  const desk: TaskDesk = new TaskDesk({
    ...{ clock, switchboard, newId },
    onLost: (lease) => {
      executors.lost(lease);
    },
  });
  const sockets = new OpenSockets(clock, settings.limitsFactor);
  const connections = new ConnectionWatch({ users, sockets, clock, submit });
  const watch: OrderWatch = new OrderWatch({
    ...{ clock, users, desk, now, submit, stalledAfterMillis: settings.stalledAfterMillis },
    isHearing: () => connections.isHearing,
  });
  const observations = new Observations({ newOrderId });
  const former = new FormerOrders(ports.reader, ports.cell, durableHead);
  const executors: ExecutorCalls = new ExecutorCalls({
    users,
    desk,
    watch,
    switchboard,
    observations,
    former,
    submit,
  });
  const outcomes = new Outcomes(clock);
  const traders = new TraderDesk({
    ...{ users, slots, switchboard, watch, outcomes, connections, former, newOrderId, newId, submit },
  });
  const transfers = new TransferDesk({ users, newId, submit, vault: ports.vault, isOurs: ports.isOurs });
  const reads = new CellReads({ users, former, slots, sockets, switchboard, watch, now, durableHead });

  const loop = new CommandLoop<CellTypes>({
    ...{ writer, memory: users, encode: encodeCellEvent, now, clock, tracing: ports.tracing },
    reservations: NOTHING_RESERVED,
    onAppended: (records, seconds) => {
      ports.meter.appended(records, seconds);
    },
    onCommitted: (committed) => {
      commit({ ports, progress, leadership, watch, outcomes, connections, keeper, users }, committed);
    },
    onJournalFailure: ports.onJournalFailure,
    onUnreserved: () => undefined,
  });

  const working = { loop, desk, watch, switchboard, keeper, leadership, progress, users };
  return new Cell({ ports, ...working, executors, traders, connections, transfers, reads });
}

interface CommitParts {
  readonly ports: CellPorts;
  readonly progress: JournalProgress;
  readonly leadership: LeadershipCheck;
  readonly watch: OrderWatch;
  readonly outcomes: Outcomes;
  readonly connections: ConnectionWatch;
  readonly keeper: SnapshotKeeper<CellMoment>;
  readonly users: Users;
}

/** Passes durable events to every part, in the order of the journal. */
function commit(parts: CommitParts, { events, head, append }: Committed<CellTypes>): void {
  const { ports, progress, leadership, watch, outcomes, connections, keeper, users } = parts;
  progress.committed(head, events);
  if (append !== undefined) {
    leadership.proven(append.since);
    ports.announce({ head, records: append.records });
  }
  for (const event of events) {
    watch.committed(event);
    connections.committed(event);
    if (isOrderEvent(event)) outcomes.committed(event);
  }
  const record = ports.writer.head;
  if (keeper.isDue(head) && record.sequence === head) keeper.take(momentOf(head, users), record);
}

/** No other shard promises what a cell's users have, so nothing is reserved elsewhere. */
const NOTHING_RESERVED = {
  reserve: () => Promise.resolve([]),
  release: () => Promise.resolve(),
  isFenced: () => false,
  unavailable: UNAVAILABLE,
};

function composeKeeper({ cell, snapshots, settings, onFault }: CellPorts): SnapshotKeeper<CellMoment> {
  return new SnapshotKeeper({
    shard: cell,
    snapshots,
    format: CELL_SNAPSHOT_FORMAT,
    write: writeCellMoment,
    every: settings.snapshotEvery,
    onFault: (error) => {
      onFault('snapshot', error);
    },
  });
}
