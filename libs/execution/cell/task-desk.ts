import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { ExecutorTask } from '../protocol/cell-protocol.js';
import { orderOf } from '../rules/user.js';
import { CAPABILITIES, type VenueId } from '../rules/venues.js';
import type { Switchboard } from './switchboard.js';
import { buildTask, type Work } from './task-builder.js';
import type { UserEntry } from './user-entry.js';

/**
 * The work of one user in one market of one venue. It is given out one at a time.
 * The exception are consecutive cancels of different orders, at venues that take many cancels in one request.
 */
interface MarketQueue {
  readonly name: string;
  readonly entry: UserEntry;
  readonly venue: VenueId;
  readonly waiting: Work[];
  /** By task id. */
  readonly leases: Map<string, Lease>;
}

export interface Lease {
  readonly task_id: string;
  readonly executor: string;
  readonly work: Work;
  readonly entry: UserEntry;
  readonly venue: VenueId;
  readonly since: number;
}

interface Claim {
  readonly executor: string;
  readonly max: number;
  readonly resolve: (tasks: ExecutorTask[]) => void;
  readonly cancel: Cancel;
}

export interface TaskDeskPorts {
  readonly clock: Clock;
  readonly switchboard: Switchboard;
  readonly newId: () => string;
  /** Called when an executor is gone or takes too long. It is unknown what it has done with the task. */
  readonly onLost: (lease: Lease) => void;
}

/** An executor that has sent no request for this time is gone. Its claims are its heartbeat. */
const LEASE_MILLIS = 5_000;
/** Longer than any call to a venue takes. */
const MOST_TASK_MILLIS = 30_000;
const CHECK_MILLIS = 250;
const MOST_WAIT_MILLIS = 2_000;

/** Gives out work to executors, each task to one executor at a time. After a restart, it is made again from the orders. */
export class TaskDesk {
  private readonly queues = new Map<string, MarketQueue>();
  private readonly ready = new Set<MarketQueue>();
  private readonly leases = new Map<string, MarketQueue>();
  private readonly lastContact = new Map<string, number>();
  private claims: Claim[] = [];
  private cancel: Cancel | undefined;
  private isFlushing = false;

  constructor(private readonly ports: TaskDeskPorts) {}

  start(): void {
    this.cancel = repeat(this.ports.clock, CHECK_MILLIS, () => {
      this.endExpiredLeases();
      return Promise.resolve();
    });
  }

  stop(): void {
    this.cancel?.();
    for (const { resolve, cancel } of this.claims) {
      cancel();
      resolve([]);
    }
    this.claims = [];
  }

  /** Queues work, unless the same work is already waiting. */
  add(entry: UserEntry, venue: VenueId, market: string, work: Work): void {
    const name = `${entry.user_id}/${venue}/${market}`;
    const queue: MarketQueue = this.queues.get(name) ?? {
      name,
      entry,
      venue,
      waiting: [],
      leases: new Map(),
    };
    this.queues.set(name, queue);
    if (queue.waiting.some((other) => isSame(other, work))) return;
    if (work.kind === 'query' && isUnderWay(queue, work)) return;
    queue.waiting.push(work);
    if (mayGiveOut(queue)) this.ready.add(queue);
    this.flushSoon();
  }

  /** Resolves with tasks, or with none after `waitMillis`. A claim of zero tasks ends the executor's earlier claims. */
  claim(executor: string, max: number, waitMillis: number): Promise<ExecutorTask[]> {
    this.hear(executor);
    if (max === 0) this.endClaims(executor);
    const tasks = this.take(executor, max);
    if (tasks.length > 0 || waitMillis <= 0) return Promise.resolve(tasks);
    return new Promise((resolve) => {
      const cancel = this.ports.clock.after(Math.min(waitMillis, MOST_WAIT_MILLIS), () => {
        this.claims = this.claims.filter((other) => other !== claim);
        this.hear(executor);
        resolve([]);
      });
      const claim: Claim = { executor, max, resolve, cancel };
      this.claims.push(claim);
    });
  }

  private endClaims(executor: string): void {
    const ended = this.claims.filter((claim) => claim.executor === executor);
    this.claims = this.claims.filter((claim) => claim.executor !== executor);
    for (const { cancel, resolve } of ended) {
      cancel();
      resolve([]);
    }
  }

  hear(executor: string): void {
    this.lastContact.set(executor, this.now());
  }

  /** Ends the lease of a task, with any result. Undefined if there is no such lease any more. */
  done(task_id: string): Lease | undefined {
    const queue = this.leases.get(task_id);
    const lease = queue?.leases.get(task_id);
    if (queue === undefined || lease === undefined) return undefined;
    this.free(queue, lease);
    return lease;
  }

  /** Whether this executor has the lease of this task. A task that is given out again has a new id. */
  has(task_id: string, executor: string, order_id: string): boolean {
    const lease = this.leases.get(task_id)?.leases.get(task_id);
    return lease?.executor === executor && 'order_id' in lease.work && lease.work.order_id === order_id;
  }

  /** Gives out work that was held back. */
  flushSoon(): void {
    if (this.isFlushing || this.claims.length === 0) return;
    this.isFlushing = true;
    setImmediate(() => {
      this.isFlushing = false;
      this.flush();
    });
  }

  get waiting(): number {
    let waiting = 0;
    for (const queue of this.ready) waiting += queue.waiting.length;
    return waiting;
  }

  private flush(): void {
    while (this.claims.length > 0) {
      const [claim] = this.claims;
      if (claim === undefined) return;
      const tasks = this.take(claim.executor, claim.max);
      if (tasks.length === 0) return;
      this.claims.shift();
      claim.cancel();
      this.hear(claim.executor);
      claim.resolve(tasks);
    }
  }

  private take(executor: string, max: number): ExecutorTask[] {
    const tasks: ExecutorTask[] = [];
    // A queue with more work is added again at the end, so that the others come first.
    for (const queue of this.ready) {
      if (tasks.length >= max) break;
      const task = this.takeFrom(queue, executor);
      if (task !== undefined) tasks.push(task);
    }
    return tasks;
  }

  private takeFrom(queue: MarketQueue, executor: string): ExecutorTask | undefined {
    const { entry, venue } = queue;
    for (;;) {
      const [work] = queue.waiting;
      if (work === undefined) {
        this.ready.delete(queue);
        if (queue.leases.size === 0) this.queues.delete(queue.name);
        return undefined;
      }
      // Earlier work turned out to need no task, and this work must wait for a lease to end.
      if (!mayGiveOut(queue)) {
        this.ready.delete(queue);
        return undefined;
      }
      if (this.isHeldBack(entry, work)) return undefined;
      queue.waiting.shift();
      const task_id = taskIdOf(entry, work, this.ports.newId);
      const task = buildTask(entry, venue, work, task_id);
      if (task === undefined) continue;
      queue.leases.set(task_id, { task_id, executor, work, entry, venue, since: this.now() });
      this.leases.set(task_id, queue);
      this.ready.delete(queue);
      if (mayGiveOut(queue)) this.ready.add(queue);
      return task;
    }
  }

  /** During a halt, the venue is only queried. Cancels and amends wait. */
  private isHeldBack(entry: UserEntry, work: Work): boolean {
    if (work.kind !== 'cancel' && work.kind !== 'amend') return false;
    const order = orderOf(entry.head, work.order_id);
    return order !== undefined && this.ports.switchboard.isHalted(order.terms, entry.head.holdings);
  }

  private endExpiredLeases(): void {
    const now = this.now();
    for (const [task_id, queue] of this.leases) {
      const lease = queue.leases.get(task_id);
      if (lease === undefined) continue;
      const contactAt = this.lastContact.get(lease.executor) ?? lease.since;
      if (now - contactAt < LEASE_MILLIS && now - lease.since < MOST_TASK_MILLIS) continue;
      this.free(queue, lease);
      this.ports.onLost(lease);
    }
    this.flushSoon();
  }

  private free(queue: MarketQueue, { task_id }: Lease): void {
    queue.leases.delete(task_id);
    this.leases.delete(task_id);
    if (queue.waiting.length === 0) {
      if (queue.leases.size === 0) this.queues.delete(queue.name);
      return;
    }
    if (!mayGiveOut(queue)) return;
    this.ready.add(queue);
    this.flushSoon();
  }

  private now(): number {
    return Number(this.ports.clock.monotonicNanos() / NANOS_PER_MILLI);
  }
}

/** Whether the first waiting work may be given out now, in spite of the open leases. */
function mayGiveOut({ waiting, leases, venue }: MarketQueue): boolean {
  const [work] = waiting;
  if (work === undefined || leases.size === 0) return work !== undefined;
  if (work.kind !== 'cancel' || !CAPABILITIES[venue].supports_cancel_all) return false;
  return [...leases.values()].every((lease) => lease.work.kind === 'cancel' && !isSame(lease.work, work));
}

function isUnderWay({ leases }: MarketQueue, work: Work): boolean {
  return [...leases.values()].some((lease) => isSame(lease.work, work));
}

function isSame(one: Work, other: Work): boolean {
  if (one.kind !== other.kind) return false;
  if ('order_id' in one && 'order_id' in other) return one.order_id === other.order_id;
  if ('transfer_id' in one && 'transfer_id' in other) return one.transfer_id === other.transfer_id;
  return true;
}

/** The id has the attempt or amend, so that a late report is not taken for a report on a later one. */
function taskIdOf(entry: UserEntry, work: Work, newId: () => string): string {
  const order = 'order_id' in work ? orderOf(entry.head, work.order_id) : undefined;
  const attempt = (order?.attempts ?? 0) + (work.kind === 'submit' ? 1 : 0);
  const id = work.kind === 'amend' ? order?.amend?.amend_id : undefined;
  return `${work.kind}/${attempt}/${id ?? newId()}`;
}

/** Parses a task id. `id` is the amend id of an amend task, and otherwise random. */
export function readTaskId(task_id: string): {
  readonly kind: string;
  readonly attempt: number;
  readonly id: string;
} {
  const [kind = '', attempt = '', id = ''] = task_id.split('/');
  return { kind, attempt: Number(attempt), id };
}
