import type { LinkReply } from '#libs/link/link-protocol.js';
import type { CommandLoop } from '#libs/shard/command-loop.js';
import type { JournalProgress } from '#libs/shard/journal-progress.js';
import type { LeadershipCheck } from '#libs/shard/leadership-check.js';
import { recoverMemory, type RecoveredExtent } from '#libs/shard/recovery.js';
import type { SnapshotKeeper } from '#libs/shard/snapshot-keeper.js';
import type { CellRequest } from '../protocol/cell-protocol.js';
import { decodeCellEvent } from '../protocol/event-codec.js';
import type { CellPorts } from './cell-ports.js';
import { CELL_SNAPSHOT_FORMAT, readCellMoment, type CellMoment } from './cell-snapshot.js';
import { answer, UNAVAILABLE, type CellTypes } from './cell-task.js';
import type { ConnectionWatch } from './connection-watch.js';
import type { ExecutorCalls } from './executor-calls.js';
import type { OrderWatch } from './order-watch.js';
import type { CellReads } from './cell-reads.js';
import type { Switchboard } from './switchboard.js';
import type { TaskDesk } from './task-desk.js';
import type { TraderDesk } from './trader-desk.js';
import type { TransferDesk } from './transfer-desk.js';
import type { UserCounts, Users } from './users.js';

export interface CellObjects {
  readonly ports: CellPorts;
  readonly loop: CommandLoop<CellTypes>;
  readonly desk: TaskDesk;
  readonly watch: OrderWatch;
  readonly switchboard: Switchboard;
  readonly keeper: SnapshotKeeper<CellMoment>;
  readonly leadership: LeadershipCheck;
  readonly progress: JournalProgress;
  readonly users: Users;
  readonly executors: ExecutorCalls;
  readonly traders: TraderDesk;
  readonly connections: ConnectionWatch;
  readonly transfers: TransferDesk;
  readonly reads: CellReads;
}

export interface CellGauges extends UserCounts {
  readonly queueDepth: number;
  readonly appendingSeconds: number;
  readonly users: number;
  readonly tasks: number;
}

/** One running cell. It holds all orders and holdings of its users. */
export class Cell {
  constructor(private readonly objects: CellObjects) {}

  /** Recovers from snapshot and journal, and resumes all open work. */
  async start(): Promise<RecoveredExtent> {
    const { ports, progress, users, keeper, loop, desk, watch, connections, switchboard } = this.objects;
    const { leadership, transfers } = this.objects;
    const { cell, clock, reader, snapshots, writer } = ports;
    let lastEventAt: string | undefined;
    const extent = await recoverMemory({
      ...{ family: 'execution', shard: cell, reader, snapshots, clock, format: CELL_SNAPSHOT_FORMAT },
      head: writer.head,
      restore: (content) => {
        for (const entry of readCellMoment(content)) users.restore(entry);
      },
      replay: (position, payload) => {
        const event = decodeCellEvent(payload);
        lastEventAt = event.at;
        users.apply(position, event);
      },
    });
    keeper.restoredFrom(extent.snapshotAt);
    progress.recovered(lastEventAt);
    users.position = writer.head.sequence;
    for (const entry of users.all()) entry.durable = entry.head;
    await switchboard.start();
    await transfers.start();
    loop.start();
    desk.start();
    watch.start();
    connections.start();
    leadership.start();
    ports.announce({ head: progress.durableHead });
    return extent;
  }

  /** Answers only while this process provably owns the cell. */
  async handle(request: CellRequest): Promise<LinkReply> {
    const { leadership, ports } = this.objects;
    const arrivedAt = ports.clock.monotonicNanos();
    const reply = await this.guarded(request);
    const isSure = isRefusedForGood(request, reply)
      ? leadership.isSureSince(arrivedAt) || (await leadership.isProvenSince(arrivedAt))
      : leadership.isSure || (await leadership.isProven());
    return isSure ? reply : UNAVAILABLE;
  }

  /** Finishes accepted commands and accepts no more. */
  async stop(): Promise<void> {
    const { desk, watch, connections, switchboard, leadership, loop, keeper } = this.objects;
    desk.stop();
    watch.stop();
    connections.stop();
    switchboard.stop();
    leadership.stop();
    await loop.stop();
    await keeper.settled();
  }

  get head(): { readonly epoch: number; readonly sequence: number } {
    const { ports, progress } = this.objects;
    return { epoch: ports.writer.head.epoch, sequence: progress.durableHead };
  }

  get gauges(): CellGauges {
    const { loop, users, desk } = this.objects;
    return {
      queueDepth: loop.depth,
      appendingSeconds: loop.appendingSeconds,
      users: users.size,
      tasks: desk.waiting,
      ...users.counts(),
    };
  }

  private async guarded(request: CellRequest): Promise<LinkReply> {
    const { ports } = this.objects;
    try {
      const reply = await this.answer(request);
      ports.meter.command(request.op, reply.status, codeIn(reply));
      return reply;
    } catch (error) {
      ports.onFault(request.op, error);
      return UNAVAILABLE;
    }
  }

  private answer(request: CellRequest): Promise<LinkReply> | LinkReply {
    const { traders, connections, executors, transfers, reads, switchboard } = this.objects;
    switch (request.op) {
      case 'submit':
        return traders.submit(request);
      case 'cancel':
        return traders.cancel(request);
      case 'cancel_by_client_id':
        return traders.cancelByClientId(request);
      case 'cancel_all':
        return traders.cancelAll(request);
      case 'cancel_after':
        return traders.cancelAfter(request);
      case 'amend':
        return traders.amend(request);
      case 'connection':
        return connections.connection(request);
      case 'presence':
        return connections.presence(request);
      case 'transfer':
        return transfers.transfer(request);
      case 'claim':
        return executors.claim(request);
      case 'begin_submission':
        return executors.begin(request);
      case 'report':
        return executors.report(request);
      case 'observed':
        return executors.observed(request);
      case 'balances':
        return executors.balances(request);
      case 'link_account':
        return executors.link(request);
      case 'transfer_report':
        return executors.transferReport(request);
      case 'venue_health':
        return executors.health(request);
      case 'switches_changed':
        return switchboard.read().then(() => answer('switches_changed', {}));
      case 'cell_status':
        return this.status();
      default:
        return readOf(reads, request);
    }
  }

  private status(): LinkReply {
    const { ports, users } = this.objects;
    const { epoch, sequence: journal_head } = this.head;
    const { liveOrders: live_orders } = users.counts();
    return answer('cell_status', { cell: ports.cell, epoch, journal_head, live_orders, users: users.size });
  }
}

/** The refusal depends on what this memory holds. If another process owns the cell, its memory may hold more. */
function isRefusedForGood({ op }: CellRequest, { status }: LinkReply): boolean {
  return (status === 404 || status === 409) && (op === 'submit' || op.startsWith('cancel') || op === 'amend');
}

type ReadRequest = Extract<
  CellRequest,
  {
    readonly op:
      | ('order' | 'order_fills' | 'orders_reconcile' | 'order_events' | 'live_orders' | 'exposure')
      | ('limits' | 'trading_status' | 'links' | 'take_slot' | 'sockets' | 'transfers' | 'reconciliation')
      | 'order_owner';
  }
>;

function readOf(reads: CellReads, request: ReadRequest): Promise<LinkReply> | LinkReply {
  switch (request.op) {
    case 'order':
      return reads.order(request);
    case 'order_fills':
      return reads.fills(request);
    case 'orders_reconcile':
      return reads.reconcile(request);
    case 'order_events':
      return reads.events(request);
    case 'live_orders':
      return reads.liveOrders(request);
    case 'exposure':
      return reads.exposure(request);
    case 'limits':
      return reads.limits(request);
    case 'trading_status':
      return reads.tradingStatus(request);
    case 'links':
      return reads.links(request);
    case 'take_slot':
      return reads.takeSlot(request);
    case 'sockets':
      return reads.takeSockets(request);
    case 'transfers':
      return reads.transfers(request);
    case 'reconciliation':
      return reads.reconciliation(request);
    case 'order_owner':
      return reads.owner(request);
  }
}

function codeIn({ status, body }: LinkReply): string {
  return status < 400 ? 'ok' : (/"code":"([A-Z_]*)"/.exec(body)?.[1] ?? 'unknown');
}
