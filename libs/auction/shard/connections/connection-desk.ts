import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { DomainEvent } from '../../rules/events.js';
import { activeQuotes, type AuctionState, findQuote } from '../../rules/state.js';
import { fault, type LinkReply, reply } from '#libs/link/link-protocol.js';
import { type Cancel, type Clock, untilNext } from '#libs/platform/time/clock.js';
import type { AuctionBook } from '../memory/auction-book.js';
import { type Submit, UNAVAILABLE } from '../auction-task.js';
import { DisconnectTask, NotesTask } from '../tasks/connection-tasks.js';
import type { ShardContext } from '../tasks/shard-context.js';
import { type ConnectionBook, NotedConnections, type PresenceRequest } from './connection-book.js';

export interface ConnectionDeskPorts {
  readonly clock: Clock;
  readonly auctions: AuctionBook;
  readonly connections: ConnectionBook;
  readonly context: ShardContext;
  readonly submit: Submit;
}

/** Short enough that a gateway's death is noticed within three seconds of its last message. */
const CHECK_MILLIS = 200;
/** Delay before the next check if the command loop did not accept a task. */
const RETRY_MILLIS = 20;

const ACKNOWLEDGED = reply(200, {});
/** Never shown to clients. The gateway then sends all its connections. */
const UNKNOWN = reply(409, { error: 'presence_unknown' });
const TOO_MANY = fault(400, 'invalid_request');

/** While the process runs, two checks are never further apart than this. */
const LONGEST_GAP_NANOS = 500_000_000n;

/**
 * Watches stream connections: handles gateways' presence messages, journals what must outlive this process, and withdraws forfeit
 * quotes.
 */
export class ConnectionDesk {
  readonly noted = new NotedConnections();
  private readonly time: WakingTime;
  private timer: { readonly at: number; readonly cancel: Cancel } | undefined;
  private isNotePending = false;
  private isStopped = false;

  constructor(private readonly ports: ConnectionDeskPorts) {
    this.time = new WakingTime(ports.clock);
  }

  /** Called at the end of the recovery. All leases are counted from here. */
  start(): void {
    const { auctions, connections } = this.ports;
    const now = this.time.now();
    connections.recovered(this.noted.all(), now);
    for (const { id, durable } of auctions.all()) {
      for (const quote of durable?.status === 'OPEN' ? activeQuotes(durable) : []) {
        if (quote.connection_id !== undefined) connections.entered(quote.connection_id, quote.maker, id, now);
      }
    }
    this.check();
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  /** Takes effect at once. Replies once a new process would know of it too. */
  presence(request: PresenceRequest): Promise<LinkReply> | LinkReply {
    const { connections } = this.ports;
    const outcome = connections.presence(request, this.time.now());
    if (outcome === 'UNKNOWN') return UNKNOWN;
    if (outcome === 'TOO_MANY') return TOO_MANY;
    if (request.whole || request.gone.length > 0) this.arm();
    const isOnRecord = [...request.here, ...request.gone].some((one) =>
      connections.isOnRecord(one.connection_id),
    );
    if (!isOnRecord && !connections.owesNotes) return ACKNOWLEDGED;
    return new Promise((resolve) => {
      if (!this.ports.submit(new NotesTask(connections, resolve))) resolve(UNAVAILABLE);
    });
  }

  /** Handles durable events, in journal order. */
  onEvents(events: readonly DomainEvent[]): void {
    const { connections } = this.ports;
    for (const event of events) this.handleEvent(event);
    if (connections.owesNotes) this.note();
  }

  private handleEvent(event: DomainEvent): void {
    const { auctions, connections } = this.ports;
    switch (event.type) {
      case 'CONNECTION_NOTED':
        this.noted.note(event);
        return;
      case 'QUOTE_SUBMITTED': {
        const { quote, connection_id: id } = event.data;
        if (id === undefined) return;
        const isHeld = connections.entered(id, quote.maker, event.auction_id, this.time.now());
        if (!isHeld) this.arm();
        return;
      }
      case 'QUOTE_WITHDRAWN':
      case 'QUOTE_EXPIRED': {
        const state = auctions.find(event.auction_id)?.head;
        const quote = state === undefined ? undefined : findQuote(state, event.data.quote_id);
        if (quote?.connection_id !== undefined) connections.left(quote.connection_id, event.auction_id);
        return;
      }
      case 'AUCTION_CANCELLED':
      case 'AUCTION_VOIDED':
      case 'AUCTION_CLOSED':
        this.endQuotes(auctions.find(event.auction_id)?.head);
        return;
      default:
        return;
    }
  }

  private endQuotes(state: AuctionState | undefined): void {
    for (const { quotes } of state?.books ?? []) {
      for (const { connection_id: id } of quotes) {
        if (id !== undefined && state !== undefined) this.ports.connections.left(id, state.terms.auction_id);
      }
    }
  }

  private check(): void {
    const { connections } = this.ports;
    const now = this.time.now();
    connections.tick(now);
    let isAllTaken = true;
    for (const [id, auctionIds] of connections.forfeits(now))
      if (!this.pull(id, auctionIds)) isAllTaken = false;
    if (connections.owesNotes) this.note();
    this.arm(isAllTaken ? 0 : RETRY_MILLIS);
  }

  /** False if the loop did not accept every task. The next check tries again. */
  private pull(connectionId: string, auctionIds: readonly string[]): boolean {
    const { auctions, connections, context, submit } = this.ports;
    const isForfeit = (): boolean => connections.isForfeit(connectionId, this.time.now());
    let isDone = true;
    for (const auctionId of auctionIds) {
      const entry = auctions.find(auctionId);
      if (entry === undefined) connections.left(connectionId, auctionId);
      else if (!submit(new DisconnectTask(context, entry, connectionId, isForfeit))) isDone = false;
    }
    if (isDone) connections.pulled(connectionId);
    return isDone;
  }

  private note(): void {
    if (this.isNotePending) return;
    const done = (): void => {
      this.isNotePending = false;
    };
    this.isNotePending = this.ports.submit(new NotesTask(this.ports.connections, done));
  }

  /** Schedules the next check: when a grace is over, and within `CHECK_MILLIS` in any case. */
  private arm(leastMillis = 0): void {
    if (this.isStopped) return;
    const now = this.time.now();
    const { clock, connections } = this.ports;
    const due = Math.min(connections.nextForfeit() ?? Infinity, now + untilNext(clock, CHECK_MILLIS));
    const at = Math.max(due, now + leastMillis);
    if (this.timer !== undefined && this.timer.at <= at) return;
    this.timer?.cancel();
    const cancel = clock.after(Math.max(0, at - now), () => {
      this.timer = undefined;
      this.check();
    });
    this.timer = { at, cancel };
  }
}

/**
 * Milliseconds during which this process ran. A standstill counts only up to the longest gap, because messages to a frozen owner
 * wait in its buffers until it continues.
 */
export class WakingTime {
  private running = 0n;
  private seenAt: bigint;

  constructor(private readonly clock: Clock) {
    this.seenAt = clock.monotonicNanos();
  }

  now(): number {
    const seen = this.clock.monotonicNanos();
    const gap = seen - this.seenAt;
    this.running += gap < LONGEST_GAP_NANOS ? gap : LONGEST_GAP_NANOS;
    this.seenAt = seen;
    return Number(this.running / NANOS_PER_MILLI);
  }
}
