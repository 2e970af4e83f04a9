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

/** Often enough that a gateway's death is noticed within three seconds of its last word. */
const LOOK_MILLIS = 200;
/** For what the loop did not take. */
const RETRY_MILLIS = 20;

const HEARD = reply(200, {});
/** Between processes alone: the gateway then says all that it has. */
const UNKNOWN = reply(409, { error: 'presence_unknown' });
const TOO_MANY = fault(400, 'invalid_request');

/** No two looks are further apart than this while the process runs. */
const LONGEST_GAP_NANOS = 500_000_000n;

/** Keeps the watch over stream connections: hears gateways, journals what must outlive this process, withdraws what is forfeit. */
export class ConnectionDesk {
  readonly noted = new NotedConnections();
  private readonly time: WakingTime;
  private timer: { readonly at: number; readonly cancel: Cancel } | undefined;
  private isNoting = false;
  private isStopped = false;

  constructor(private readonly ports: ConnectionDeskPorts) {
    this.time = new WakingTime(ports.clock);
  }

  /** At the end of the recovery, from which on everybody's lease is counted. */
  start(): void {
    const { auctions, connections } = this.ports;
    const now = this.time.now();
    connections.recovered(this.noted.all(), now);
    for (const { id, durable } of auctions.all()) {
      for (const quote of durable?.status === 'OPEN' ? activeQuotes(durable) : []) {
        if (quote.connection_id !== undefined) connections.entered(quote.connection_id, quote.maker, id, now);
      }
    }
    this.look();
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  /** Takes effect at once; answered when a fresh process would know of it too. */
  presence(request: PresenceRequest): Promise<LinkReply> | LinkReply {
    const { connections } = this.ports;
    const outcome = connections.presence(request, this.time.now());
    if (outcome === 'UNKNOWN') return UNKNOWN;
    if (outcome === 'TOO_MANY') return TOO_MANY;
    if (request.whole || request.gone.length > 0) this.arm();
    const isOnRecord = [...request.here, ...request.gone].some((one) =>
      connections.isOnRecord(one.connection_id),
    );
    if (!isOnRecord && !connections.owesNotes) return HEARD;
    return new Promise((resolve) => {
      if (!this.ports.submit(new NotesTask(connections, resolve))) resolve(UNAVAILABLE);
    });
  }

  /** What has become durable, in its order. */
  onEvents(events: readonly DomainEvent[]): void {
    const { connections } = this.ports;
    for (const event of events) this.heed(event);
    if (connections.owesNotes) this.note();
  }

  private heed(event: DomainEvent): void {
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
        this.over(auctions.find(event.auction_id)?.head);
        return;
      default:
        return;
    }
  }

  private over(state: AuctionState | undefined): void {
    for (const { quotes } of state?.books ?? []) {
      for (const { connection_id: id } of quotes) {
        if (id !== undefined && state !== undefined) this.ports.connections.left(id, state.terms.auction_id);
      }
    }
  }

  private look(): void {
    const { connections } = this.ports;
    const now = this.time.now();
    connections.tick(now);
    let isAllTaken = true;
    for (const [id, auctionIds] of connections.forfeits(now))
      if (!this.pull(id, auctionIds)) isAllTaken = false;
    if (connections.owesNotes) this.note();
    this.arm(isAllTaken ? 0 : RETRY_MILLIS);
  }

  /** False where the loop has no room for it now, or will never have: that is tried again with the next look. */
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
    if (this.isNoting) return;
    const done = (): void => {
      this.isNoting = false;
    };
    this.isNoting = this.ports.submit(new NotesTask(this.ports.connections, done));
  }

  /** Looks again when somebody's time is up, and before long in any case. */
  private arm(leastMillis = 0): void {
    if (this.isStopped) return;
    const now = this.time.now();
    const { clock, connections } = this.ports;
    const due = Math.min(connections.nextForfeit() ?? Infinity, now + untilNext(clock, LOOK_MILLIS));
    const at = Math.max(due, now + leastMillis);
    if (this.timer !== undefined && this.timer.at <= at) return;
    this.timer?.cancel();
    const cancel = clock.after(Math.max(0, at - now), () => {
      this.timer = undefined;
      this.look();
    });
    this.timer = { at, cancel };
  }
}

/**
 * Milliseconds in which this process was running. Of a time in which it stood still it counts only so much: what a frozen
 * owner has not heard was said all the same, and lies in its buffers until it goes on.
 */
export class WakingTime {
  private awake = 0n;
  private seenAt: bigint;

  constructor(private readonly clock: Clock) {
    this.seenAt = clock.monotonicNanos();
  }

  now(): number {
    const seen = this.clock.monotonicNanos();
    const gap = seen - this.seenAt;
    this.awake += gap < LONGEST_GAP_NANOS ? gap : LONGEST_GAP_NANOS;
    this.seenAt = seen;
    return Number(this.awake / NANOS_PER_MILLI);
  }
}
