import type { Host } from '../kernel/host.js';
import type { Random } from '../kernel/random.js';
import type { Scheduler } from '../kernel/scheduler.js';
import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Trace } from '../kernel/trace.js';
import { WireEnd } from './wire-end.js';

/** Faults of the network. Chances are for each frame of a link between processes; clients' streams are plain TCP. */
export interface WireMood {
  readonly slowestMillis: number;
  readonly drop: number;
  readonly repeat: number;
  readonly reorder: number;
}

export interface Arrival {
  readonly end: WireEnd;
  readonly headers: Readonly<Record<string, string>>;
}

interface Listener {
  readonly host: Host;
  readonly accept: (arrival: Arrival) => void;
}

const FASTEST_NANOS = 50_000;
/** Later than in a world without faults. */
const LATE_NANOS = 5 * NANOS_PER_MILLI;
const HANDSHAKE_NANOS = 2_000_000_000;

/** Connections between processes and what happens to them. */
export class Network {
  readonly met = new Map<string, number>();
  private readonly listeners = new Map<string, Listener[]>();
  private readonly ends = new Set<WireEnd>();
  private readonly blocked = new Set<string>();

  constructor(
    readonly scheduler: Scheduler,
    private readonly random: Random,
    private mood: WireMood,
    private readonly trace: Trace,
  ) {}

  /** From now on there are no faults. */
  calm(): void {
    this.mood = { slowestMillis: 1, drop: 0, repeat: 0, reorder: 0 };
    for (const pair of this.blocked) this.unblock(...splitPair(pair));
  }

  /**
   * New connections reach the latest living listener: a process that wakes up late may listen, and die, after
   * its successor.
   */
  listen(address: string, host: Host, accept: (arrival: Arrival) => void): void {
    const living = (this.listeners.get(address) ?? []).filter((listener) => listener.host.isAlive);
    this.listeners.set(address, [...living, { host, accept }]);
  }

  connect(from: Host, address: string, headers: Readonly<Record<string, string>>, isLink: boolean): WireEnd {
    const near = new WireEnd(this, from, isLink);
    this.ends.add(near);
    from.whenDead(() => near.vanish());
    this.scheduler.after(this.delay(), undefined, () => {
      const listener = this.listeners.get(address)?.findLast(({ host }) => host.isAlive);
      if (near.state !== 'CONNECTING') return;
      if (listener === undefined) near.fail();
      else if (this.isBlocked(from.name, listener.host.name))
        this.scheduler.after(HANDSHAKE_NANOS, undefined, () => near.fail());
      else this.handshake(near, listener, headers, isLink);
    });
    return near;
  }

  delay(): number {
    const nanos = FASTEST_NANOS + this.random.next() * this.mood.slowestMillis * NANOS_PER_MILLI;
    if (nanos > LATE_NANOS) this.meet('LATE');
    return nanos;
  }

  /** The fault of one frame of a link. */
  fate(): 'DROPPED' | 'REPEATED' | 'REORDERED' | undefined {
    const { drop, repeat, reorder } = this.mood;
    if (drop + repeat + reorder === 0) return undefined;
    const drawn = this.random.next();
    if (drawn < drop) return this.meet('DROPPED');
    if (drawn < drop + repeat) return this.meet('REPEATED');
    if (drawn < drop + repeat + reorder) return this.meet('REORDERED');
    return undefined;
  }

  isBlocked(one: string, other: string): boolean {
    return this.blocked.has(pairOf(one, other));
  }

  /** Nothing gets through between the two, and neither side is notified. */
  block(one: string, other: string): void {
    this.trace.note(`network: nothing between ${one} and ${other}`);
    this.blocked.add(pairOf(one, other));
  }

  unblock(one: string, other: string): void {
    this.blocked.delete(pairOf(one, other));
    for (const end of this.between(one, other)) end.flush();
  }

  /** Both sides see their connections end; frames in flight are lost. */
  cut(one: string, other: string): number {
    const ends = this.between(one, other);
    if (ends.length > 0) this.trace.note(`network: cut between ${one} and ${other}`);
    for (const end of ends) end.reset();
    return ends.length;
  }

  forget(end: WireEnd): void {
    this.ends.delete(end);
  }

  private between(one: string, other: string): WireEnd[] {
    const wanted = pairOf(one, other);
    return [...this.ends].filter(
      (end) => end.peer !== undefined && pairOf(end.host.name, end.peer.host.name) === wanted,
    );
  }

  private handshake(
    near: WireEnd,
    listener: Listener,
    headers: Readonly<Record<string, string>>,
    isLink: boolean,
  ): void {
    const { host } = listener;
    const cancel = this.scheduler.after(HANDSHAKE_NANOS, undefined, () => near.fail());
    host.run(() => {
      if (near.state !== 'CONNECTING') return;
      cancel();
      const far = new WireEnd(this, host, isLink);
      this.ends.add(far);
      host.whenDead(() => far.vanish());
      far.join(near);
      near.join(far);
      listener.accept({ end: far, headers });
      near.opened(this.delay());
    });
  }

  private meet<Fate extends string>(fate: Fate): Fate {
    this.met.set(fate, (this.met.get(fate) ?? 0) + 1);
    return fate;
  }
}

function pairOf(one: string, other: string): string {
  return one < other ? `${one}|${other}` : `${other}|${one}`;
}

function splitPair(pair: string): [string, string] {
  const [one = '', other = ''] = pair.split('|');
  return [one, other];
}
