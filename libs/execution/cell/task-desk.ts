import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import type { ExecutorTask } from '../protocol/cell-protocol.js';
import { orderOf } from '../rules/user.js';
import { CAPABILITIES, type VenueId } from '../rules/venues.js';
import type { Switchboard } from './switchboard.js';
import { buildTask, type Work } from './task-builder.js';
import type { UserEntry } from './user-entry.js';

/**
 * What is handed out one after the other: the work of one user in one market of one venue. Only cancels of different orders that stand one
 * behind the other go out together, to venues that take many in one request.
 */
interface Lane {
  readonly name: string;
  readonly entry: UserEntry;
  readonly venue: VenueId;
  readonly waiting: Work[];
  /** By task. */
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
  /** Whoever had the task is gone, or takes too long. What it has done with it is not known. */
  readonly onLost: (lease: Lease) => void;
}

/** An executor that has not been heard of for so long is gone. Its claims are its heartbeat. */
const LEASE_MILLIS = 5_000;
/** No call to a venue takes longer. */
const MOST_TASK_MILLIS = 30_000;
const LOOK_MILLIS = 250;
const MOST_WAIT_MILLIS = 2_000;

/** Gives the executor what there is to do, each thing to one executor at a time. It is all made anew out of the orders after a restart. */
export class TaskDesk {
  private readonly lanes = new Map<string, Lane>();
  private readonly ready = new Set<Lane>();
  private readonly leases = new Map<string, Lane>();
  private readonly heard = new Map<string, number>();
  private claims: Claim[] = [];
  private cancel: Cancel | undefined;
  private isFlushing = false;

  constructor(private readonly ports: TaskDeskPorts) {}

  start(): void {
    this.cancel = repeat(this.ports.clock, LOOK_MILLIS, () => {
      this.look();
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

  /** The same work is not waited for twice. */
  add(entry: UserEntry, venue: VenueId, market: string, work: Work): void {
    const name = `${entry.user_id}/${venue}/${market}`;
    const lane: Lane = this.lanes.get(name) ?? { name, entry, venue, waiting: [], leases: new Map() };
    this.lanes.set(name, lane);
    if (lane.waiting.some((other) => isSame(other, work))) return;
    if (work.kind === 'query' && isUnderWay(lane, work)) return;
    lane.waiting.push(work);
    if (mayGiveOut(lane)) this.ready.add(lane);
    this.flushSoon();
  }

  /** Resolves with something to do, or with nothing after a while. Whoever wants nothing ends what it has asked before. */
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
    this.heard.set(executor, this.now());
  }

  /** The task is done, whatever came of it. Undefined where it was not, or is no longer, with this executor. */
  done(task_id: string): Lease | undefined {
    const lane = this.leases.get(task_id);
    const lease = lane?.leases.get(task_id);
    if (lane === undefined || lease === undefined) return undefined;
    this.free(lane, lease);
    return lease;
  }

  /** Whether the task is with this executor now. It may have been taken from it, and be with the same executor again as another task. */
  has(task_id: string, executor: string, order_id: string): boolean {
    const lease = this.leases.get(task_id)?.leases.get(task_id);
    return lease?.executor === executor && 'order_id' in lease.work && lease.work.order_id === order_id;
  }

  /** What was held back may go on now. */
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
    for (const lane of this.ready) waiting += lane.waiting.length;
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
    // A lane that has more to give out comes again behind the others.
    for (const lane of this.ready) {
      if (tasks.length >= max) break;
      const task = this.takeFrom(lane, executor);
      if (task !== undefined) tasks.push(task);
    }
    return tasks;
  }

  private takeFrom(lane: Lane, executor: string): ExecutorTask | undefined {
    const { entry, venue } = lane;
    for (;;) {
      const [work] = lane.waiting;
      if (work === undefined) {
        this.ready.delete(lane);
        if (lane.leases.size === 0) this.lanes.delete(lane.name);
        return undefined;
      }
      // What stood before it had come to nothing.
      if (!mayGiveOut(lane)) {
        this.ready.delete(lane);
        return undefined;
      }
      if (this.isHeldBack(entry, work)) return undefined;
      lane.waiting.shift();
      const task_id = taskIdOf(entry, work, this.ports.newId);
      const task = buildTask(entry, venue, work, task_id);
      if (task === undefined) continue;
      lane.leases.set(task_id, { task_id, executor, work, entry, venue, since: this.now() });
      this.leases.set(task_id, lane);
      this.ready.delete(lane);
      if (mayGiveOut(lane)) this.ready.add(lane);
      return task;
    }
  }

  /** In a halt nothing is sent to the venue; it is only asked. */
  private isHeldBack(entry: UserEntry, work: Work): boolean {
    if (work.kind !== 'cancel' && work.kind !== 'amend') return false;
    const order = orderOf(entry.head, work.order_id);
    return order !== undefined && this.ports.switchboard.isHalted(order.terms, entry.head.holdings);
  }

  private look(): void {
    const now = this.now();
    for (const [task_id, lane] of this.leases) {
      const lease = lane.leases.get(task_id);
      if (lease === undefined) continue;
      const heardAt = this.heard.get(lease.executor) ?? lease.since;
      if (now - heardAt < LEASE_MILLIS && now - lease.since < MOST_TASK_MILLIS) continue;
      this.free(lane, lease);
      this.ports.onLost(lease);
    }
    this.flushSoon();
  }

  private free(lane: Lane, { task_id }: Lease): void {
    lane.leases.delete(task_id);
    this.leases.delete(task_id);
    if (lane.waiting.length === 0) {
      if (lane.leases.size === 0) this.lanes.delete(lane.name);
      return;
    }
    if (!mayGiveOut(lane)) return;
    this.ready.add(lane);
    this.flushSoon();
  }

  private now(): number {
    return Number(this.ports.clock.monotonicNanos() / NANOS_PER_MILLI);
  }
}

/** Whether the first that waits need not wait for what is under way. */
function mayGiveOut({ waiting, leases, venue }: Lane): boolean {
  const [work] = waiting;
  if (work === undefined || leases.size === 0) return work !== undefined;
  if (work.kind !== 'cancel' || !CAPABILITIES[venue].supports_cancel_all) return false;
  return [...leases.values()].every((lease) => lease.work.kind === 'cancel' && !isSame(lease.work, work));
}

function isUnderWay({ leases }: Lane, work: Work): boolean {
  return [...leases.values()].some((lease) => isSame(lease.work, work));
}

function isSame(one: Work, other: Work): boolean {
  if (one.kind !== other.kind) return false;
  if ('order_id' in one && 'order_id' in other) return one.order_id === other.order_id;
  if ('transfer_id' in one && 'transfer_id' in other) return one.transfer_id === other.transfer_id;
  return true;
}

/** It names attempt or amend, so that a late report is not taken for one of what came after it. */
function taskIdOf(entry: UserEntry, work: Work, newId: () => string): string {
  const order = 'order_id' in work ? orderOf(entry.head, work.order_id) : undefined;
  const attempt = (order?.attempts ?? 0) + (work.kind === 'submit' ? 1 : 0);
  const id = work.kind === 'amend' ? order?.amend?.amend_id : undefined;
  return `${work.kind}/${attempt}/${id ?? newId()}`;
}

/** Kind and attempt of a task, and of an amend its id, by the id of the task. */
export function readTaskId(task_id: string): {
  readonly kind: string;
  readonly attempt: number;
  readonly id: string;
} {
  const [kind = '', attempt = '', id = ''] = task_id.split('/');
  return { kind, attempt: Number(attempt), id };
}
