import type { Instant } from '#libs/base/instant.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import type { CommittedRecords } from '#libs/link/journal-notices.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { noTracing, type Tracing } from '#libs/platform/tracing/tracing.js';
import { CommandTracing } from './command-tracing.js';
import { AGAIN, type ShardTypes, type Task } from './task.js';

const MAX_BATCH = 256;
const MAX_QUEUE = 20_000;
/** A batch that exceeds either goes to the journal as several appends, each far below the journal's own limit. */
const APPEND_RECORDS = 2_000;
const APPEND_CHARS = 2_000_000;
const NANOS_PER_SECOND = 1e9;

/** What the shard keeps in memory. */
export interface EntityMemory<T extends ShardTypes> {
  /** Applies an event that is on its way to the journal. Undefined where it changes no entity. */
  apply(position: number, event: T['event']): EntityChange<T> | undefined;
}

export interface EntityChange<T extends ShardTypes> {
  readonly entity: T['entity'];
  /** The reservations that the event releases once it is durable. */
  readonly releases: readonly T['release'][];
}

/** Reserves what commands may cost, for a whole batch at a time. */
export interface Reservations<T extends ShardTypes> {
  reserve(requests: readonly T['request'][]): Promise<readonly T['grant'][]>;
  /** Resolves when any caller may reserve the released amounts again, or when waiting longer helps no caller. */
  release(releases: readonly T['release'][]): Promise<void>;
  /** Whether `reserve` failed because another process owns the shard. */
  isFenced(error: unknown): boolean;
  /** Asks callers to retry, because `reserve` failed. */
  readonly unavailable: T['reply'];
}

export interface Committed<T extends ShardTypes> {
  readonly entities: Iterable<T['entity']>;
  readonly events: readonly T['event'][];
  readonly head: number;
  /** Undefined where there was nothing to append. */
  readonly append: Append | undefined;
}

export interface Append {
  /** When it began, by the monotonic clock. */
  readonly since: bigint;
  readonly records: CommittedRecords;
}

export interface LoopPorts<T extends ShardTypes> {
  readonly writer: JournalWriter;
  readonly memory: EntityMemory<T>;
  readonly reservations: Reservations<T>;
  readonly encode: (event: T['event']) => string;
  readonly now: () => Instant;
  readonly clock: Clock;
  readonly onAppended: (records: number, seconds: number) => void;
  readonly onCommitted: (committed: Committed<T>) => void;
  /** The journal or the reservations no longer accept this process: no caller may get another reply. */
  readonly onJournalFailure: (error: unknown) => void;
  /** Callers are asked to retry; this lets the operator find out why. */
  readonly onUnreserved: (error: unknown) => void;
  readonly tracing?: Tracing | undefined;
}

/** The decisions of one batch, or of a part of it, on their way to the journal. */
interface PendingAppend<T extends ShardTypes> {
  /** Position of the first event. */
  readonly first: number;
  readonly payloads: string[];
  chars: number;
  readonly events: T['event'][];
  readonly replies: { readonly task: Task<T>; readonly reply: T['reply'] }[];
  /** Each entity that changes, with the state that it has after the append. */
  readonly changed: Map<T['entity'], unknown>;
  readonly releases: T['release'][];
}

/**
 * The one place where a shard changes. A batch is decided against memory that includes events still on their way to the journal, so the next
 * batch reserves and decides during an append. One append is in flight at a time. No caller is answered before the append of its batch,
 * and so of all batches before it, is durable.
 */
export class CommandLoop<T extends ShardTypes> {
  private queue: Task<T>[] = [];
  private appendingSince: bigint | undefined;
  private wake: (() => void) | undefined;
  private stopped = false;
  private failed = false;
  private position: number;
  private appended: Promise<void> = Promise.resolve();
  private running: Promise<void> = Promise.resolve();
  /** Appends that are durable and whose replies wait for their releases. */
  private readonly releasing = new Set<Promise<void>>();
  private readonly traces: CommandTracing<Task<T>> | undefined;

  constructor(private readonly ports: LoopPorts<T>) {
    const { tracing = noTracing } = ports;
    this.traces = tracing === noTracing ? undefined : new CommandTracing(tracing);
    this.position = ports.writer.head.sequence;
  }

  /** How long the current append has been running; 0 where there is none. */
  get appendingSeconds(): number {
    if (this.appendingSince === undefined) return 0;
    return Number(this.ports.clock.monotonicNanos() - this.appendingSince) / NANOS_PER_SECOND;
  }

  get depth(): number {
    return this.queue.length;
  }

  start(): void {
    this.running = this.run();
  }

  /** False when the queue is full: the caller should retry later. */
  submit(task: Task<T>): boolean {
    if (this.stopped || this.failed || this.queue.length >= MAX_QUEUE) return false;
    this.queue.push(task);
    this.traces?.enter(task);
    this.wake?.();
    return true;
  }

  /** Finishes everything that was accepted and takes nothing more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.wake?.();
    await this.running;
    await this.appended;
    await Promise.all(this.releasing);
  }

  private async run(): Promise<void> {
    while (!this.failed) {
      if (this.queue.length === 0) {
        if (this.stopped) return;
        await this.arrival();
        continue;
      }
      await this.work(this.takeBatch());
    }
  }

  /** Checked after every wait: the flag may have changed meanwhile. */
  private hasFailed(): boolean {
    return this.failed;
  }

  private arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined;
        // Tasks that arrive in the same turn of the event loop join the batch.
        setImmediate(resolve);
      };
    });
  }

  private takeBatch(): Task<T>[] {
    const batch: Task<T>[] = [];
    const later: Task<T>[] = [];
    const keys = new Set<string>();
    for (const task of this.queue) {
      if (batch.length < MAX_BATCH && !keys.has(task.orderingKey)) batch.push(task);
      else later.push(task);
      keys.add(task.orderingKey);
    }
    this.queue = later;
    return batch;
  }

  private async work(batch: Task<T>[]): Promise<void> {
    const granted = await this.reserve(batch);
    if (this.hasFailed()) return;
    for (const pending of this.decide(batch, granted)) {
      await this.appended;
      if (this.hasFailed()) return;
      this.appended = this.commit(pending);
    }
  }

  private async reserve(batch: Task<T>[]): Promise<Map<Task<T>, T['grant']>> {
    const { reservations } = this.ports;
    const now = this.ports.now();
    const asking: Task<T>[] = [];
    const requests: T['request'][] = [];
    for (const task of batch) {
      const request = task.reservation(now);
      if (request === undefined) continue;
      asking.push(task);
      requests.push(request);
    }
    const granted = new Map<Task<T>, T['grant']>();
    if (requests.length === 0) return granted;
    for (const task of asking) this.traces?.move(task, 'reserve');
    try {
      const outcomes = await reservations.reserve(requests);
      for (const [index, task] of asking.entries()) {
        const outcome = outcomes[index];
        if (outcome !== undefined) granted.set(task, outcome);
      }
    } catch (error) {
      if (reservations.isFenced(error)) {
        this.fail(error);
        return granted;
      }
      this.ports.onUnreserved(error);
      // The outcome of the reservation is unknown; the next reservation of the same things corrects it. The callers may retry.
      const failed = new Set(asking);
      for (const task of asking) this.settle(task, reservations.unavailable);
      remove(batch, failed);
    }
    return granted;
  }

  private decide(batch: Task<T>[], granted: Map<Task<T>, T['grant']>): PendingAppend<T>[] {
    let pending = emptyAppend<T>(this.position + 1);
    const appends = [pending];
    const again: Task<T>[] = [];
    const now = this.ports.now();
    for (const task of batch) {
      this.traces?.move(task, 'decide');
      this.apply(task.prelude(now), pending);
      const result = task.decide(now, granted.get(task));
      if (result === AGAIN) {
        again.push(task);
        this.traces?.move(task, 'queue');
        continue;
      }
      this.apply(result.events, pending);
      if (result.unused !== undefined) pending.releases.push(...result.unused);
      if (result.unfinished === true) again.push(task);
      else pending.replies.push({ task, reply: result.reply() });
      this.traces?.move(task, result.unfinished === true ? 'queue' : 'journal wait');
      if (isFull(pending)) {
        pending = emptyAppend(this.position + 1);
        appends.push(pending);
      }
    }
    if (again.length > 0) this.queue = [...again, ...this.queue];
    return appends;
  }

  private apply(events: readonly T['event'][], pending: PendingAppend<T>): void {
    const { encode, memory } = this.ports;
    for (const event of events) {
      this.position += 1;
      const payload = encode(event);
      pending.payloads.push(payload);
      pending.chars += payload.length;
      pending.events.push(event);
      const change = memory.apply(this.position, event);
      if (change === undefined) continue;
      pending.changed.set(change.entity, change.entity.head);
      pending.releases.push(...change.releases);
    }
  }

  private async commit(pending: PendingAppend<T>): Promise<void> {
    let append: Append | undefined;
    try {
      append = pending.payloads.length === 0 ? undefined : await this.append(pending);
    } catch (error) {
      this.fail(error);
      return;
    }
    for (const [entity, state] of pending.changed) entity.durable = state;
    const head = pending.first + pending.events.length - 1;
    this.ports.onCommitted({ entities: pending.changed.keys(), events: pending.events, head, append });
    if (pending.releases.length === 0) {
      this.answer(pending);
      return;
    }
    this.traces?.moveAll(pending.replies, 'release');
    // Not awaited by the loop: the next append need not wait until the money of this one is free again.
    const answered = this.ports.reservations.release(pending.releases).then(() => {
      this.answer(pending);
      this.releasing.delete(answered);
    });
    this.releasing.add(answered);
  }

  private async append({ replies, first, payloads }: PendingAppend<T>): Promise<Append> {
    const { clock, onAppended, writer } = this.ports;
    this.traces?.moveAll(replies, 'journal append', { records: payloads.length, firstSequence: first });
    const since = clock.monotonicNanos();
    this.appendingSince = since;
    const { firstSequence, hashes } = await writer.append(payloads);
    this.appendingSince = undefined;
    // Decisions rest on these positions; a gap would mean that another process has written.
    if (firstSequence !== first) throw new Error(`expected position ${first}, got ${firstSequence}`);
    onAppended(payloads.length, Number(clock.monotonicNanos() - since) / NANOS_PER_SECOND);
    const hash = hashes.at(-1) ?? '';
    return { since, records: { epoch: writer.head.epoch, hash, payloads } };
  }

  private answer(pending: PendingAppend<T>): void {
    for (const { task, reply } of pending.replies) this.settle(task, reply);
  }

  private settle(task: Task<T>, reply: T['reply']): void {
    this.traces?.leave(task);
    task.settle(reply);
  }

  private fail(error: unknown): void {
    if (this.failed) return;
    this.failed = true;
    this.ports.onJournalFailure(error);
  }
}

function emptyAppend<T extends ShardTypes>(first: number): PendingAppend<T> {
  return { first, payloads: [], chars: 0, events: [], replies: [], changed: new Map(), releases: [] };
}

function isFull({
  payloads,
  chars,
}: {
  readonly payloads: readonly string[];
  readonly chars: number;
}): boolean {
  return payloads.length >= APPEND_RECORDS || chars >= APPEND_CHARS;
}

/** Removes the items in place, because the batch continues without them. */
function remove<Item>(batch: Item[], gone: ReadonlySet<Item>): void {
  let kept = 0;
  for (const item of batch) {
    if (gone.has(item)) continue;
    batch[kept] = item;
    kept += 1;
  }
  batch.length = kept;
}
