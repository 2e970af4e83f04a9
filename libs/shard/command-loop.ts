import {
  ReservationFault,
  type ReservationDesk,
  type ReserveOutcome,
} from '#libs/auction/admission/reservation-desk.js';
import type { AuctionEvent, DomainEvent, ShardEvent } from '#libs/auction/rules/events.js';
import type { Instant } from '#libs/base/instant.js';
import type { AuctionState } from '#libs/auction/rules/state.js';
import { encodeEvent, versionOf } from '#libs/auction/rules/event-versions.js';
import type { JournalWriter } from '#libs/journal/journal.js';
import { fault, type LinkReply } from '#libs/link/link-protocol.js';
import type { CommittedRecords } from '#libs/link/journal-notices.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { noTracing, type Tracing } from '#libs/platform/tracing/tracing.js';
import type { AuctionBook, Entry } from '#libs/auction/shard/memory/auction-book.js';
import { CommandTrail } from './command-trail.js';
import type { ShardMeter } from '#libs/auction/shard/ports.js';
import { releasesOf, type Release } from '#libs/auction/shard/releases.js';
import { AGAIN, type Draft, type Task } from './task.js';

const MAX_BATCH = 256;
const MAX_QUEUE = 20_000;
/** Past either a batch goes to the journal as several appends: far below what an append may hold, whatever one task adds. */
const APPEND_RECORDS = 2_000;
const APPEND_CHARS = 2_000_000;
const NANOS_PER_SECOND = 1e9;

export interface Committed {
  readonly entries: Iterable<Entry>;
  readonly events: readonly DomainEvent[];
  readonly head: number;
  /** Undefined where there was nothing to append. */
  readonly append: Append | undefined;
}

export interface Append {
  /** When it began, by the clock that never goes back. */
  readonly since: bigint;
  readonly records: CommittedRecords;
}

export interface LoopPorts {
  readonly writer: JournalWriter;
  readonly desk: ReservationDesk;
  readonly book: AuctionBook;
  readonly now: () => Instant;
  readonly clock: Clock;
  readonly meter: ShardMeter;
  readonly onCommitted: (committed: Committed) => void;
  /** Resolves when what was set free may be set aside anew by anyone, or when waiting longer helps nobody. */
  readonly release: (releases: readonly Release[]) => Promise<void>;
  /** The journal, or the reservations, no longer take our word: nothing more may be told to anyone. */
  readonly onJournalFailure: (error: unknown) => void;
  /** Callers are told to come again; this is for whoever has to find out why. */
  readonly onUnreserved: (error: unknown) => void;
  readonly tracing?: Tracing | undefined;
}

/** What one batch has decided, on its way to the journal. */
interface Turn {
  /** Position of the first event. */
  readonly first: number;
  readonly payloads: string[];
  chars: number;
  readonly events: DomainEvent[];
  readonly answers: { readonly task: Task; readonly reply: LinkReply }[];
  readonly touched: Map<Entry, AuctionState>;
  readonly releases: Release[];
}

/**
 * The one place where this shard changes. Batches are decided one after another against memory that already includes what
 * is on its way; while one batch is being written the next one reserves and decides. One append is in flight at a time, and
 * nobody is answered before the append of its batch, and so of all before it, is durable.
 */
export class CommandLoop {
  private queue: Task[] = [];
  private appendingSince: bigint | undefined;
  private wake: (() => void) | undefined;
  private stopped = false;
  private failed = false;
  private position: number;
  private appended: Promise<void> = Promise.resolve();
  private running: Promise<void> = Promise.resolve();
  /** Turns that are durable and whose answers wait for what they have set free. */
  private readonly releasing = new Set<Promise<void>>();
  private readonly trail: CommandTrail | undefined;

  constructor(private readonly ports: LoopPorts) {
    const { tracing = noTracing } = ports;
    this.trail = tracing === noTracing ? undefined : new CommandTrail(tracing);
    this.position = ports.writer.head.sequence;
  }

  /** For how long the append that is under way has been; 0 where none is. */
  get appendingSeconds(): number {
    if (this.appendingSince === undefined) return 0;
    return Number(this.ports.clock.monotonicNanos() - this.appendingSince) / NANOS_PER_SECOND;
  }

  get depth(): number {
    return this.queue.length;
  }

  /** The last position given out; what lies behind it is on its way. */
  get head(): number {
    return this.position;
  }

  start(): void {
    this.running = this.run();
  }

  /** False when so much is waiting that the caller had better come back later. */
  submit(task: Task): boolean {
    if (this.stopped || this.failed || this.queue.length >= MAX_QUEUE) return false;
    this.queue.push(task);
    this.trail?.enter(task);
    this.wake?.();
    return true;
  }

  /** Everything accepted so far is finished; nothing more is taken. */
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
      await this.turn(this.takeBatch());
    }
  }

  /** Asked behind every wait: the flag may have been raised meanwhile. */
  private hasFailed(): boolean {
    return this.failed;
  }

  private arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = () => {
        this.wake = undefined;
        // Whatever arrives in the same turn of the event loop joins the batch.
        setImmediate(resolve);
      };
    });
  }

  private takeBatch(): Task[] {
    const batch: Task[] = [];
    const later: Task[] = [];
    const lanes = new Set<string>();
    for (const task of this.queue) {
      if (batch.length < MAX_BATCH && !lanes.has(task.lane)) batch.push(task);
      else later.push(task);
      lanes.add(task.lane);
    }
    this.queue = later;
    return batch;
  }

  private async turn(batch: Task[]): Promise<void> {
    const granted = await this.reserve(batch);
    if (this.hasFailed()) return;
    for (const turn of this.decide(batch, granted)) {
      await this.appended;
      if (this.hasFailed()) return;
      this.appended = this.commit(turn);
    }
  }

  private async reserve(batch: Task[]): Promise<Map<Task, ReserveOutcome>> {
    const now = this.ports.now();
    const asking: Task[] = [];
    const requests = [];
    for (const task of batch) {
      const request = task.reservation(now);
      if (request === undefined) continue;
      asking.push(task);
      requests.push(request);
    }
    const granted = new Map<Task, ReserveOutcome>();
    if (requests.length === 0) return granted;
    for (const task of asking) this.trail?.move(task, 'reserve');
    try {
      const outcomes = await this.ports.desk.reserve(requests);
      for (const [index, task] of asking.entries()) {
        const outcome = outcomes[index];
        if (outcome !== undefined) granted.set(task, outcome);
      }
    } catch (error) {
      if (error instanceof ReservationFault && error.kind === 'FENCED') {
        this.fail(error);
        return granted;
      }
      this.ports.onUnreserved(error);
      // Nobody knows what the database has kept; the next write of these rows puts them right. The callers may try again.
      const failed = new Set(asking);
      for (const task of asking) this.settle(task, fault(503, 'auction_owner_unavailable'));
      remove(batch, failed);
    }
    return granted;
  }

  private decide(batch: Task[], granted: Map<Task, ReserveOutcome>): Turn[] {
    let turn = newTurn(this.position + 1);
    const turns = [turn];
    const again: Task[] = [];
    const now = this.ports.now();
    for (const task of batch) {
      this.trail?.move(task, 'decide');
      this.take(task.prelude(now), turn);
      const decision = task.decide(now, granted.get(task));
      if (decision === AGAIN) {
        again.push(task);
        this.trail?.move(task, 'queue');
        continue;
      }
      this.take(decision.drafts, turn);
      if (decision.unused !== undefined) turn.releases.push(...decision.unused);
      if (decision.unfinished === true) again.push(task);
      else turn.answers.push({ task, reply: decision.answer() });
      this.trail?.move(task, decision.unfinished === true ? 'queue' : 'journal wait');
      if (isFull(turn)) {
        turn = newTurn(this.position + 1);
        turns.push(turn);
      }
    }
    if (again.length > 0) this.queue = [...again, ...this.queue];
    return turns;
  }

  private take(drafts: readonly Draft[], turn: Turn): void {
    for (const draft of drafts) {
      this.position += 1;
      const event = eventOf(draft);
      const payload = encodeEvent(event);
      turn.payloads.push(payload);
      turn.chars += payload.length;
      turn.events.push(event);
      if ('auction_id' in event) this.apply(event, turn);
    }
  }

  private apply(event: AuctionEvent, turn: Turn): void {
    const before = this.ports.book.find(event.auction_id)?.head;
    const entry = this.ports.book.apply({ position: this.position, event });
    turn.touched.set(entry, entry.head);
    if (before !== undefined) turn.releases.push(...releasesOf(before, event));
  }

  private async commit(turn: Turn): Promise<void> {
    let append: Append | undefined;
    try {
      append = turn.payloads.length === 0 ? undefined : await this.append(turn);
    } catch (error) {
      this.fail(error);
      return;
    }
    for (const [entry, state] of turn.touched) entry.durable = state;
    const head = turn.first + turn.events.length - 1;
    this.ports.onCommitted({
      entries: turn.touched.keys(),
      events: turn.events,
      head,
      append,
    });
    if (turn.releases.length === 0) {
      this.answer(turn);
      return;
    }
    this.trail?.moveAll(turn.answers, 'release');
    // Not awaited by the loop: the next append need not wait for the money of this one to be free again.
    const answered = this.ports.release(turn.releases).then(() => {
      this.answer(turn);
      this.releasing.delete(answered);
    });
    this.releasing.add(answered);
  }

  private async append({ answers, first, payloads }: Turn): Promise<Append> {
    const { clock, meter, writer } = this.ports;
    this.trail?.moveAll(answers, 'journal append', { records: payloads.length, firstSequence: first });
    const since = clock.monotonicNanos();
    this.appendingSince = since;
    const { firstSequence, hashes } = await writer.append(payloads);
    this.appendingSince = undefined;
    // Priorities were decided by these positions; anything else in between is somebody else's.
    if (firstSequence !== first) throw new Error(`expected position ${first}, got ${firstSequence}`);
    meter.appended(payloads.length, Number(clock.monotonicNanos() - since) / NANOS_PER_SECOND);
    const hash = hashes.at(-1) ?? '';
    return { since, records: { epoch: writer.head.epoch, hash, payloads } };
  }

  private answer(turn: Turn): void {
    for (const { task, reply } of turn.answers) this.settle(task, reply);
  }

  private settle(task: Task, reply: LinkReply): void {
    this.trail?.leave(task);
    task.settle(reply);
  }

  private fail(error: unknown): void {
    if (this.failed) return;
    this.failed = true;
    this.ports.onJournalFailure(error);
  }
}

function newTurn(first: number): Turn {
  return { first, payloads: [], chars: 0, events: [], answers: [], touched: new Map(), releases: [] };
}

function isFull({ payloads, chars }: Turn): boolean {
  return payloads.length >= APPEND_RECORDS || chars >= APPEND_CHARS;
}

function eventOf(draft: Draft): DomainEvent {
  const recorded = {
    ...draft.body,
    version: versionOf(draft.body.type),
    at: draft.at,
    ...(draft.requestId === undefined ? {} : { request_id: draft.requestId }),
    ...(draft.command === undefined ? {} : { command: draft.command }),
  };
  return 'auctionId' in draft
    ? ({ ...recorded, auction_id: draft.auctionId } as AuctionEvent)
    : (recorded as ShardEvent);
}

function remove(batch: Task[], gone: ReadonlySet<Task>): void {
  let kept = 0;
  for (const task of batch) {
    if (gone.has(task)) continue;
    batch[kept] = task;
    kept += 1;
  }
  batch.length = kept;
}
