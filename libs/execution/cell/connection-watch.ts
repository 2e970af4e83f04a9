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

/** Of the latest socket of a connection. */
interface Claim {
  readonly attachment: number;
  /** Undefined after a goodbye: then its orders stay. */
  readonly graceMillis: number | undefined;
  readonly heardAt: number;
}

interface Lost {
  readonly entry: UserEntry;
  readonly attachment: number;
  /** Its gateway has said so. One that was merely silent may be heard of again. */
  readonly isTold: boolean;
}

/** A connection that no gateway has named for so long is lost. */
const LEASE_MILLIS = 5_000;
const LOOK_MILLIS = 1_000;
/** Whoever has not looked for so long was standing still, and has heard nobody meanwhile. */
const ASLEEP_MILLIS = 3_000;
/** Two beats of a gateway: what it has to say is heard by then. */
const HEARING_MILLIS = 2_000;
const REMEMBERED_MILLIS = 600_000;

/** Cancels orders with the connection that they came on, whether its loss is told or its gateway falls silent. */
export class ConnectionWatch {
  private readonly claims = new Map<string, Claim>();
  /** Connections with orders, that are not lost: since when this process knows of them. */
  private readonly standing = new Map<string, { readonly entry: UserEntry; readonly since: number }>();
  /** Those whose grace runs. */
  private readonly lost = new Map<string, Lost>();
  /** Those whose orders were cancelled, by the attachment that they had and when that was. */
  private readonly lapsed = new Map<string, { readonly attachment: number; readonly at: number }>();
  /** Since when this process runs without a standstill. */
  private awakeSince = 0;
  private lookedAt = 0;
  private cancel: Cancel | undefined;

  constructor(private readonly ports: ConnectionWatchPorts) {}

  start(): void {
    this.lookedAt = this.now();
    this.awakeSince = this.lookedAt;
    for (const entry of this.ports.users.all()) {
      for (const { connection_id: id, due_at, attachment = 0, grace_ms = 0 } of entry.head.timers.values()) {
        if (id === undefined) continue;
        this.claims.set(id, { attachment, graceMillis: grace_ms, heardAt: this.lookedAt });
        if (due_at === undefined) this.standing.set(id, { entry, since: this.lookedAt });
        else this.lost.set(id, { entry, attachment, isTold: false });
      }
    }
    this.cancel = repeat(this.ports.clock, LOOK_MILLIS, () => {
      this.look();
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel?.();
  }

  /** False after a start and a standstill, until gateways have had the time to say who is there. */
  get isHearing(): boolean {
    const now = this.now();
    return now - this.awakeSince >= HEARING_MILLIS && now - this.lookedAt <= ASLEEP_MILLIS;
  }

  /** What is to be noted beside an order, so that a later process knows with which connection it goes. */
  noted({ connection_id: id }: OrderTerms, entry: UserEntry, at: Instant): CellEvent[] {
    if (id === undefined || entry.head.timers.has(timerOf(id))) return [];
    const { graceMillis } = this.claims.get(id) ?? { graceMillis: 0 };
    return graceMillis === undefined ? [] : [this.armed(entry, id, graceMillis, at)];
  }

  committed(event: CellEvent): void {
    if (event.type === 'CANCEL_TIMER_ENDED') {
      const id = event.timer.slice(timerOf('').length);
      if (event.timer === timerOf(id)) this.over(id, event.was_due);
    } else if (event.type === 'CANCEL_TIMER_ARMED' && event.connection_id !== undefined) {
      const { connection_id: id, due_at, user_id } = event;
      if (due_at !== undefined) this.standing.delete(id);
      else {
        this.standing.set(id, { entry: this.ports.users.entryOf(user_id), since: this.now() });
        this.lost.delete(id);
      }
    }
  }

  /** A socket has ended, or another has gone on with its connection. What is older than the latest socket says nothing. */
  connection(request: ConnectionRequest): Promise<LinkReply> {
    const { user_id, connection_id: id, how, grace_ms: graceMillis, attachment } = request;
    if (attachment < this.attachmentOf(id)) return Promise.resolve(answer('connection', {}));
    const entry = this.ports.users.entryOf(user_id);
    const heardAt = this.now();
    this.claims.set(id, { attachment, graceMillis: how === 'BYE' ? undefined : graceMillis, heardAt });
    if (how === 'LOST') this.lost.set(id, { entry, attachment, isTold: true });
    else this.lost.delete(id);
    return this.run((at) => {
      if (how === 'BYE') return ended(entry, id, at);
      return how === 'LOST' ? this.running(entry, id, graceMillis, at) : this.resting(entry, id, at);
    });
  }

  presence({ gateway, sockets, here }: GatewayPresence): LinkReply {
    if (sockets !== undefined) this.ports.sockets.heard(gateway, sockets);
    const heardAt = this.now();
    const lapsed: string[] = [];
    for (const { connection_id: id, attachment, grace_ms: graceMillis } of here) {
      const over = this.lapsed.get(id);
      const isLapsed = over !== undefined && attachment <= over.attachment;
      if (isLapsed) lapsed.push(id);
      const lost = this.lost.get(id);
      const isGone = lost?.isTold === true && attachment <= lost.attachment;
      if (isLapsed || isGone || attachment < this.attachmentOf(id)) continue;
      this.claims.set(id, { attachment, graceMillis, heardAt });
      if (lost === undefined) continue;
      this.lost.delete(id);
      void this.run((at) => this.resting(lost.entry, id, at));
    }
    return answer('presence', { lapsed });
  }

  private look(): void {
    const now = this.now();
    if (now - this.lookedAt > ASLEEP_MILLIS) this.awakeSince = now;
    this.lookedAt = now;
    for (const [id, { entry, since }] of this.standing) {
      const heardAt = Math.max(since, this.awakeSince, this.claims.get(id)?.heardAt ?? 0);
      if (!hasOrders(entry, id)) void this.run((at) => (hasOrders(entry, id) ? [] : ended(entry, id, at)));
      else if (now - heardAt >= LEASE_MILLIS) this.silent(entry, id);
    }
    this.forget(now);
  }

  private forget(now: number): void {
    const oldest = now - REMEMBERED_MILLIS;
    // One without orders leaves nothing to be cancelled.
    for (const [id, { entry }] of this.lost) if (!entry.head.timers.has(timerOf(id))) this.lost.delete(id);
    for (const [id, { heardAt }] of this.claims)
      if (heardAt < oldest && !this.standing.has(id) && !this.lost.has(id)) this.claims.delete(id);
    for (const [id, { at }] of this.lapsed) if (at < oldest) this.lapsed.delete(id);
  }

  private silent(entry: UserEntry, id: string): void {
    this.lost.set(id, { entry, attachment: this.attachmentOf(id), isTold: false });
    const grace = this.claims.get(id)?.graceMillis ?? 0;
    void this.run((at) => (this.lost.has(id) ? this.running(entry, id, grace, at) : []));
  }

  private over(id: string, wasDue: boolean): void {
    const lost = this.lost.get(id);
    // With a later socket the client has come back, if too late: it is told of its orders there.
    if (wasDue && lost !== undefined) this.lapsed.set(id, { attachment: lost.attachment, at: this.now() });
    this.standing.delete(id);
    this.lost.delete(id);
  }

  private attachmentOf(id: string): number {
    return this.claims.get(id)?.attachment ?? 0;
  }

  /** The grace begins, unless it has begun before. */
  private running(entry: UserEntry, id: string, graceMillis: number, at: Instant): CellEvent[] {
    if (!hasOrders(entry, id)) return ended(entry, id, at);
    if (entry.head.timers.get(timerOf(id))?.due_at !== undefined) return [];
    return [this.armed(entry, id, graceMillis, at, plusMillis(at, graceMillis))];
  }

  /** The connection is there again, and nothing runs. */
  private resting(entry: UserEntry, id: string, at: Instant): CellEvent[] {
    if (!hasOrders(entry, id)) return ended(entry, id, at);
    return [this.armed(entry, id, this.claims.get(id)?.graceMillis ?? 0, at)];
  }

  /** The attachment is written down too: after a restart an older socket must not speak for a later one. */
  private armed(
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
