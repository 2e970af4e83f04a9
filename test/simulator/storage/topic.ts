import { SendLost, SendRefused, type LogMessage, type TopicLog } from '#libs/journal/kafka/topic-log.js';
import type { Host } from '../kernel/host.js';
import type { Random } from '../kernel/random.js';
import type { Scheduler } from '../kernel/scheduler.js';
import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Trace } from '../kernel/trace.js';

/** Chances for each send, or each read. */
export interface TopicMood {
  readonly slowestMillis: number;
  /** The message arrives, but no acknowledgement comes. */
  readonly lostBehind: number;
  /** The message is lost, and no acknowledgement comes. */
  readonly lostBefore: number;
  /** It arrives long after its sender has given up. */
  readonly late: number;
  /** It arrives, and arrives again later. */
  readonly twice: number;
  readonly refused: number;
  /** The answering broker has not seen the latest messages. */
  readonly staleEnd: number;
}

/** One run of a process, or all processes with the name. */
type Misled = Host | string;

type Fate = Exclude<keyof TopicMood, 'slowestMillis'>;

export const CALM_TOPIC: TopicMood = {
  slowestMillis: 2,
  lostBehind: 0,
  lostBefore: 0,
  late: 0,
  twice: 0,
  refused: 0,
  staleEnd: 0,
};

const FASTEST_NANOS = 200_000;
const LATEST_NANOS = 9_000_000_000;
const SEND_FATES = ['lostBehind', 'lostBefore', 'late', 'twice', 'refused'] as const;

/** One shard's topic at its broker. It outlives all processes; an appended message is durable. */
export class Topic {
  readonly met = new Map<string, number>();
  private readonly values: Buffer[] = [];
  private isDown = false;
  /** Which processes ask a deposed broker that does not know it, and how much that broker has. */
  private readonly misled = new Map<Misled, number>();

  constructor(
    readonly shard: number,
    private readonly scheduler: Scheduler,
    private readonly random: Random,
    private mood: TopicMood,
    private readonly trace: Trace,
    private readonly onAppend: (offset: number, value: Buffer) => void,
  ) {}

  calm(): void {
    this.mood = CALM_TOPIC;
    this.isDown = false;
    this.misled.clear();
  }

  /** No broker leads the topic. */
  goDown(): void {
    this.isDown = true;
  }

  comeBack(): void {
    this.isDown = false;
  }

  /** From now on this process's broker gets no more messages, but goes on answering. */
  mislead(who: Misled): void {
    if (!this.misled.has(who)) this.misled.set(who, this.values.length);
  }

  /** The process has found the leading broker. */
  enlighten(who: Misled): void {
    this.misled.delete(who);
  }

  /** The topic as one process sees it. */
  open(host: Host): TopicLog {
    return {
      append: (values, withinMillis) => this.append(host, values, withinMillis),
      end: () => this.ask(host, (known) => this.end(known)),
      fetch: (offset) => this.ask(host, (known) => this.page(offset, known)),
      close: () => Promise.resolve(),
    };
  }

  private append(host: Host, values: readonly Buffer[], withinMillis: number): Promise<number> {
    const fate = this.draw(SEND_FATES);
    return new Promise((resolve, reject) => {
      const timeout = this.scheduler.after(withinMillis * NANOS_PER_MILLI, host, () => {
        reject(new SendLost('no answer in time'));
      });
      const answer = (tell: () => void): void => {
        this.scheduler.after(this.delay(), host, () => {
          timeout();
          tell();
        });
      };
      this.scheduler.after(this.arrival(fate), undefined, () => {
        if (this.isDown || fate === 'refused') {
          answer(() => reject(new SendRefused('NOT_LEADER_OR_FOLLOWER', false)));
          return;
        }
        // A deposed broker waits in vain for replication, and answers nothing.
        if (this.misled.has(host)) return;
        if (fate === 'lostBefore') {
          answer(() => reject(new SendLost('the connection was lost')));
          return;
        }
        const base = this.write(host, values);
        if (fate === 'twice') this.again(host, values);
        if (fate === 'lostBehind') answer(() => reject(new SendLost('the connection was lost')));
        else answer(() => resolve(base));
      });
    });
  }

  private again(host: Host, values: readonly Buffer[]): void {
    this.scheduler.after(this.random.next() * LATEST_NANOS, undefined, () => {
      this.write(host, values);
    });
  }

  private arrival(fate: Fate | undefined): number {
    return fate === 'late' ? this.random.next() * LATEST_NANOS : this.delay();
  }

  private write(host: Host, values: readonly Buffer[]): number {
    const base = this.values.length;
    this.trace.note(`topic ${this.shard}: ${host.name} appends ${values.length} at ${base}`);
    for (const value of values) {
      this.values.push(value);
      this.onAppend(this.values.length - 1, value);
    }
    return base;
  }

  private ask<T>(host: Host, look: (known: number) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.scheduler.after(this.delay(), undefined, () => {
        const isDown = this.isDown;
        const found = isDown ? undefined : { value: look(this.knownTo(host)) };
        this.scheduler.after(this.delay(), host, () => {
          if (found === undefined) reject(new Error('no broker leads the topic'));
          else resolve(found.value);
        });
      });
    });
  }

  private knownTo(host: Host): number {
    return this.misled.get(host) ?? this.misled.get(host.name) ?? this.values.length;
  }

  private end(known: number): number {
    return this.draw(['staleEnd']) === undefined ? known : Math.max(0, known - this.random.between(1, 4));
  }

  private page(offset: number, known: number): LogMessage[] {
    const most = this.random.between(1, 64);
    return this.values
      .slice(offset, Math.min(offset + most, known))
      .map((value, index) => ({ offset: offset + index, value }));
  }

  private delay(): number {
    return FASTEST_NANOS + this.random.next() * this.mood.slowestMillis * NANOS_PER_MILLI;
  }

  private draw(fates: readonly Fate[]): Fate | undefined {
    const drawn = this.random.next();
    let sum = 0;
    for (const fate of fates) {
      sum += this.mood[fate];
      if (drawn >= sum) continue;
      this.met.set(fate, (this.met.get(fate) ?? 0) + 1);
      return fate;
    }
    return undefined;
  }
}
