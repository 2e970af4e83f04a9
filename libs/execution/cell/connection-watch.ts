import { NANOS_PER_MILLI, plusMillis, type Instant } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { GatewayPresence, TraderRequest } from '../protocol/cell-protocol.js';
import type { CellEvent } from '../rules/events.js';
import type { OrderTerms } from '../rules/order.js';
import { answer, cellTask, UNAVAILABLE, type CellTask } from './cell-task.js';
import type { OpenSockets } from './open-sockets.js';
import type { UserEntry } from './user-entry.js';
import type { Users } from './users.js';

type ConnectionRequest = Extract<TraderRequest, { op: 'connection' }>;
type Decide = (at: Instant) => CellEvent[];

export interface ConnectionWatchPorts {
  readonly users: Users;
  readonly sockets: OpenSockets;
  readonly clock: Clock;
  readonly submit: (task: CellTask) => boolean;
}

/** The latest socket of a connection. */
interface LatestSocket {
  readonly attachment: number;
  /** Undefined after a `bye`. Then the orders stay. */
  readonly graceMillis: number | undefined;
  readonly heardAt: number;
}

interface LostConnection {
  readonly entry: UserEntry;
  readonly attachment: number;
  /** Whether its gateway reported the loss. If the gateway was only silent, the connection may come back. */
  readonly isReported: boolean;
}

/** A connection that no gateway has reported for this time is lost. */
const LEASE_MILLIS = 5_000;
const CHECK_MILLIS = 1_000;
/** If this process has not checked for this time, it was suspended and received nothing meanwhile. */
const ASLEEP_MILLIS = 3_000;
/** Two beats of a gateway. Within this time each gateway has reported its connections. */
const HEARING_MILLIS = 2_000;
const REMEMBERED_MILLIS = 600_000;

/** Cancels the orders of a connection when its gateway reports the loss, or reports nothing for too long. */
export class ConnectionWatch {
  private readonly latestSockets = new Map<string, LatestSocket>();
  /** Connections with orders that are not lost, and since when this process knows them. */
  private readonly connected = new Map<string, { readonly entry: UserEntry; readonly since: number }>();
  /** Connections whose grace is running. */
  private readonly lost = new Map<string, LostConnection>();
  /** Connections whose orders were cancelled, with their attachment and the time of the cancel. */
  private readonly lapsed = new Map<string, { readonly attachment: number; readonly at: number }>();
  /** Since when this process has run without being suspended. */
  private awakeSince = 0;
  private checkedAt = 0;
  private cancel: Cancel | undefined;

  constructor(private readonly ports: ConnectionWatchPorts) {}

  start(): void {
    this.checkedAt = this.now();
    this.awakeSince = this.checkedAt;
    for (const entry of this.ports.users.all()) {
      for (const { connection_id: id, due_at, attachment = 0, grace_ms = 0 } of entry.head.timers.values()) {
        if (id === undefined) continue;
        this.latestSockets.set(id, { attachment, graceMillis: grace_ms, heardAt: this.checkedAt });
        if (due_at === undefined) this.connected.set(id, { entry, since: this.checkedAt });
        else this.lost.set(id, { entry, attachment, isReported: false });
      }
    }
    this.cancel = repeat(this.ports.clock, CHECK_MILLIS, () => {
      this.check();
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel?.();
  }

  /** False after a start or a suspension, until gateways have had time to report their connections. */
  get isHearing(): boolean {
    const now = this.now();
    return now - this.awakeSince >= HEARING_MILLIS && now - this.checkedAt <= ASLEEP_MILLIS;
  }

  /** The event to write with a new order, so that a later process knows the order's connection. */
  noted({ connection_id: id }: OrderTerms, entry: UserEntry, at: Instant): CellEvent[] {
    if (id === undefined || entry.head.timers.has(timerOf(id))) return [];
    const { graceMillis } = this.latestSockets.get(id) ?? { graceMillis: 0 };
    return graceMillis === undefined ? [] : [this.armTimer(entry, id, graceMillis, at)];
  }

  committed(event: CellEvent): void {
    if (event.type === 'CANCEL_TIMER_ENDED') {
      const id = event.timer.slice(timerOf('').length);
      if (event.timer === timerOf(id)) this.timerEnded(id, event.was_due);
    } else if (event.type === 'CANCEL_TIMER_ARMED' && event.connection_id !== undefined) {
      const { connection_id: id, due_at, user_id } = event;
      if (due_at !== undefined) this.connected.delete(id);
      else {
        this.connected.set(id, { entry: this.ports.users.entryOf(user_id), since: this.now() });
        this.lost.delete(id);
      }
    }
  }

  /** A socket has ended, or another has resumed its connection. Reports about older sockets are ignored. */
  connection(request: ConnectionRequest): Promise<LinkReply> {
    const { user_id, connection_id: id, how, grace_ms: graceMillis, attachment } = request;
    if (attachment < this.attachmentOf(id)) return Promise.resolve(answer('connection', {}));
    const entry = this.ports.users.entryOf(user_id);
    const heardAt = this.now();
    this.latestSockets.set(id, { attachment, graceMillis: how === 'BYE' ? undefined : graceMillis, heardAt });
    if (how === 'LOST') this.lost.set(id, { entry, attachment, isReported: true });
    else this.lost.delete(id);
    return this.run((at) => {
      if (how === 'BYE') return ended(entry, id, at);
      return how === 'LOST' ? this.startGrace(entry, id, graceMillis, at) : this.stopGrace(entry, id, at);
    });
  }

  presence({ gateway, sockets, here }: GatewayPresence): LinkReply {
    if (sockets !== undefined) this.ports.sockets.heard(gateway, sockets);
    const heardAt = this.now();
    const lapsed: string[] = [];
    for (const { connection_id: id, attachment, grace_ms: graceMillis } of here) {
      const cancelled = this.lapsed.get(id);
      const isLapsed = cancelled !== undefined && attachment <= cancelled.attachment;
      if (isLapsed) lapsed.push(id);
      const lost = this.lost.get(id);
      const isGone = lost?.isReported === true && attachment <= lost.attachment;
      if (isLapsed || isGone || attachment < this.attachmentOf(id)) continue;
      this.latestSockets.set(id, { attachment, graceMillis, heardAt });
      if (lost === undefined) continue;
      this.lost.delete(id);
      void this.run((at) => this.stopGrace(lost.entry, id, at));
    }
    return answer('presence', { lapsed });
  }

  private check(): void {
    const now = this.now();
    if (now - this.checkedAt > ASLEEP_MILLIS) this.awakeSince = now;
    this.checkedAt = now;
    for (const [id, { entry, since }] of this.connected) {
      const heardAt = Math.max(since, this.awakeSince, this.latestSockets.get(id)?.heardAt ?? 0);
      if (!hasOrders(entry, id)) void this.run((at) => (hasOrders(entry, id) ? [] : ended(entry, id, at)));
      else if (now - heardAt >= LEASE_MILLIS) this.takeForLost(entry, id);
    }
    this.forget(now);
  }

  private forget(now: number): void {
    const oldest = now - REMEMBERED_MILLIS;
    // A lost connection without a timer has no orders to cancel.
    for (const [id, { entry }] of this.lost) if (!entry.head.timers.has(timerOf(id))) this.lost.delete(id);
    for (const [id, { heardAt }] of this.latestSockets)
      if (heardAt < oldest && !this.connected.has(id) && !this.lost.has(id)) this.latestSockets.delete(id);
    for (const [id, { at }] of this.lapsed) if (at < oldest) this.lapsed.delete(id);
  }

  private takeForLost(entry: UserEntry, id: string): void {
    this.lost.set(id, { entry, attachment: this.attachmentOf(id), isReported: false });
    const grace = this.latestSockets.get(id)?.graceMillis ?? 0;
    void this.run((at) => (this.lost.has(id) ? this.startGrace(entry, id, grace, at) : []));
  }

  private timerEnded(id: string, wasDue: boolean): void {
    const lost = this.lost.get(id);
    // A client that comes back too late learns of the cancels on its new socket, so only the old attachment is noted.
    if (wasDue && lost !== undefined) this.lapsed.set(id, { attachment: lost.attachment, at: this.now() });
    this.connected.delete(id);
    this.lost.delete(id);
  }

  private attachmentOf(id: string): number {
    return this.latestSockets.get(id)?.attachment ?? 0;
  }

  /** Starts the grace, unless it is already running. */
  private startGrace(entry: UserEntry, id: string, graceMillis: number, at: Instant): CellEvent[] {
    if (!hasOrders(entry, id)) return ended(entry, id, at);
    if (entry.head.timers.get(timerOf(id))?.due_at !== undefined) return [];
    return [this.armTimer(entry, id, graceMillis, at, plusMillis(at, graceMillis))];
  }

  /** Stops the grace: the connection is back. */
  private stopGrace(entry: UserEntry, id: string, at: Instant): CellEvent[] {
    if (!hasOrders(entry, id)) return ended(entry, id, at);
    return [this.armTimer(entry, id, this.latestSockets.get(id)?.graceMillis ?? 0, at)];
  }

  /** The event has the attachment, so that after a restart a report about an older socket is still ignored. */
  private armTimer(
    { user_id }: UserEntry,
    id: string,
    grace_ms: number,
    at: Instant,
    due_at?: Instant,
  ): CellEvent {
    return {
      ...{ type: 'CANCEL_TIMER_ARMED', at, user_id, timer: timerOf(id), connection_id: id, grace_ms },
      attachment: this.attachmentOf(id),
      ...(due_at === undefined ? {} : { due_at }),
    };
  }

  private run(decide: Decide): Promise<LinkReply> {
    return new Promise((resolve) => {
      const task = cellTask((at) => ({ events: decide(at), reply: () => answer('connection', {}) }), resolve);
      if (!this.ports.submit(task)) resolve(UNAVAILABLE);
    });
  }

  private now(): number {
    return Number(this.ports.clock.monotonicNanos() / NANOS_PER_MILLI);
  }
}

function timerOf(connection_id: string): string {
  return `connection/${connection_id}`;
}

function hasOrders(entry: UserEntry, id: string): boolean {
  return [...entry.head.live.values()].some(({ terms }) => terms.connection_id === id);
}

function ended({ head, user_id }: UserEntry, id: string, at: Instant): CellEvent[] {
  const timer = timerOf(id);
  return head.timers.has(timer) ? [{ type: 'CANCEL_TIMER_ENDED', at, user_id, timer, was_due: false }] : [];
}
