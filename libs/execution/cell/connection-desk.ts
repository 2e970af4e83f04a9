import { NANOS_PER_MILLI, plusMillis, type Instant } from '#libs/base/instant.js';
import type { LinkReply } from '#libs/link/link-protocol.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { PresenceRequest, TraderRequest } from '../protocol/cell-protocol.js';
import type { CellEvent } from '../rules/events.js';
import type { OrderTerms } from '../rules/order.js';
import { answer, cellTask, UNAVAILABLE, type CellTask } from './cell-task.js';
import type { UserEntry } from './user-entry.js';
import type { Users } from './users.js';

type ConnectionRequest = Extract<TraderRequest, { op: 'connection' }>;
type Decide = (at: Instant) => CellEvent[];

export interface ConnectionDeskPorts {
  readonly users: Users;
  readonly clock: Clock;
  readonly submit: (task: CellTask) => boolean;
}

/** Of the latest socket of a connection. */
interface Claim {
  readonly attachment: number;
  readonly graceMillis: number;
  readonly heardAt: number;
}

/** A connection that no gateway has named for so long is lost. */
const LEASE_MILLIS = 5_000;
const LOOK_MILLIS = 1_000;
/** Whoever has not looked for so long was standing still, and has heard nobody meanwhile. */
const ASLEEP_MILLIS = 3_000;
const REMEMBERED_MILLIS = 600_000;

/** Cancels orders with the connection that they came on, whether its loss is told or its gateway falls silent. */
export class ConnectionDesk {
  private readonly claims = new Map<string, Claim>();
  /** Connections with orders, that are not lost: since when this process knows of them. */
  private readonly standing = new Map<string, { readonly entry: UserEntry; readonly since: number }>();
  /** Lost ones whose grace runs; with a later attachment, or once the gateway is heard of again, they are back. */
  private readonly lost = new Map<string, { readonly entry: UserEntry; readonly above: number }>();
  private awakeSince = 0;
  private lookedAt = 0;
  private cancel: Cancel | undefined;

  constructor(private readonly ports: ConnectionDeskPorts) {}

  start(): void {
    this.lookedAt = this.now();
    for (const entry of this.ports.users.all()) {
      for (const { connection_id: id, due_at } of entry.head.timers.values()) {
        if (id === undefined) continue;
        if (due_at === undefined) this.standing.set(id, { entry, since: this.lookedAt });
        else this.lost.set(id, { entry, above: 0 });
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

  /** What is to be noted beside an order, so that a later process knows with which connection it goes. */
  noted({ user_id, connection_id }: OrderTerms, entry: UserEntry, at: Instant): CellEvent[] {
    if (connection_id === undefined || entry.head.timers.has(timerOf(connection_id))) return [];
    const grace_ms = this.claims.get(connection_id)?.graceMillis ?? 0;
    return [
      { type: 'CANCEL_TIMER_ARMED', at, user_id, timer: timerOf(connection_id), connection_id, grace_ms },
    ];
  }

  committed(event: CellEvent): void {
    if (event.type === 'CANCEL_TIMER_ENDED') {
      const id = event.timer.slice(timerOf('').length);
      if (event.timer !== timerOf(id)) return;
      this.standing.delete(id);
      this.lost.delete(id);
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
    if (attachment < (this.claims.get(id)?.attachment ?? 0)) return Promise.resolve(answer('connection', {}));
    const entry = this.ports.users.entryOf(user_id);
    this.claims.set(id, { attachment, graceMillis, heardAt: this.now() });
    if (how === 'LOST') this.lost.set(id, { entry, above: attachment });
    else this.lost.delete(id);
    return this.run((at) => {
      if (how === 'BYE') return ended(entry, id, at);
      return how === 'LOST' ? running(entry, id, graceMillis, at) : resting(entry, id, graceMillis, at);
    });
  }

  presence({ here }: PresenceRequest): LinkReply {
    const heardAt = this.now();
    for (const { connection_id: id, attachment, grace_ms: graceMillis } of here) {
      if (attachment < (this.claims.get(id)?.attachment ?? 0)) continue;
      const lost = this.lost.get(id);
      if (lost !== undefined && attachment <= lost.above) continue;
      this.claims.set(id, { attachment, graceMillis, heardAt });
      if (lost === undefined) continue;
      this.lost.delete(id);
      void this.run((at) => resting(lost.entry, id, graceMillis, at));
    }
    return answer('presence', {});
  }

  private look(): void {
    const now = this.now();
    if (now - this.lookedAt > ASLEEP_MILLIS) this.awakeSince = now;
    this.lookedAt = now;
    for (const [id, { entry, since }] of this.standing) {
      const claim = this.claims.get(id);
      const heardAt = Math.max(since, this.awakeSince, claim?.heardAt ?? 0);
      if (!hasOrders(entry, id)) void this.run((at) => (hasOrders(entry, id) ? [] : ended(entry, id, at)));
      else if (now - heardAt >= LEASE_MILLIS) this.silent(entry, id, claim);
    }
    for (const [id, { heardAt }] of this.claims)
      if (now - heardAt > REMEMBERED_MILLIS && !this.standing.has(id)) this.forget(id);
  }

  private silent(entry: UserEntry, id: string, claim: Claim | undefined): void {
    const grace = claim?.graceMillis ?? entry.head.timers.get(timerOf(id))?.grace_ms ?? 0;
    this.lost.set(id, { entry, above: (claim?.attachment ?? 0) - 1 });
    void this.run((at) => (this.lost.has(id) ? running(entry, id, grace, at) : []));
  }

  private forget(id: string): void {
    this.claims.delete(id);
    this.lost.delete(id);
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

/** The grace begins, unless it has begun before. */
function running(entry: UserEntry, id: string, grace_ms: number, at: Instant): CellEvent[] {
  const { user_id, head } = entry;
  if (!hasOrders(entry, id)) return ended(entry, id, at);
  const timer = timerOf(id);
  if (head.timers.get(timer)?.due_at !== undefined) return [];
  const due_at = plusMillis(at, grace_ms);
  return [{ type: 'CANCEL_TIMER_ARMED', at, user_id, timer, due_at, connection_id: id, grace_ms }];
}

/** The connection is there again, and nothing runs. */
function resting(entry: UserEntry, id: string, grace_ms: number, at: Instant): CellEvent[] {
  if (!hasOrders(entry, id)) return ended(entry, id, at);
  const { user_id } = entry;
  return [{ type: 'CANCEL_TIMER_ARMED', at, user_id, timer: timerOf(id), connection_id: id, grace_ms }];
}
