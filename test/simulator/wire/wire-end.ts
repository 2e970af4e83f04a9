import type { Host } from '../kernel/host.js';
import type { Scheduler } from '../kernel/scheduler.js';

type State = 'CONNECTING' | 'OPEN' | 'CLOSED';

/** The network between two ends. */
interface Carrier {
  readonly scheduler: Scheduler;
  delay(): number;
  fate(): 'DROPPED' | 'REPEATED' | 'REORDERED' | undefined;
  isBlocked(one: string, other: string): boolean;
  forget(end: WireEnd): void;
}

interface Frame {
  readonly text: string;
  readonly sent: (() => void) | undefined;
}

const NO_CLOSE_FRAME = 1006;
const LATE_FACTOR = 8;

/** One end of a connection. Ordered and complete like TCP, unless the network injects faults. */
export class WireEnd {
  state: State = 'CONNECTING';
  peer: WireEnd | undefined;
  /** Bytes that the other side has not read. */
  buffered = 0;
  onOpen: () => void = () => undefined;
  onText: (text: string) => void = () => undefined;
  onClose: (code: number) => void = () => undefined;
  onFail: () => void = () => undefined;
  /** The holder of this end does not read for now. */
  private isIdle = false;
  private stuck: Frame[] = [];
  private lastArrival = 0;
  private isGone = false;

  constructor(
    private readonly network: Carrier,
    readonly host: Host,
    private readonly isLink: boolean,
  ) {}

  join(peer: WireEnd): void {
    this.peer = peer;
    if (this.state === 'CONNECTING') this.state = 'OPEN';
  }

  /** The other side has accepted; this side is still connecting until it hears of it. */
  opened(afterNanos: number): void {
    this.state = 'CONNECTING';
    this.lastArrival = this.network.scheduler.now + afterNanos;
    this.network.scheduler.after(afterNanos, this.host, () => {
      if (this.state !== 'CONNECTING') return;
      this.state = 'OPEN';
      this.onOpen();
    });
    if (this.peer !== undefined) this.peer.lastArrival = this.lastArrival;
  }

  send(text: string, sent?: () => void): void {
    if (this.state !== 'OPEN') {
      sent?.();
      return;
    }
    this.buffered += text.length;
    const frame = { text, sent };
    if (this.isStuck()) this.stuck.push(frame);
    else this.deliver(frame);
  }

  /** The other side sees the close after all earlier frames. */
  close(code: number): void {
    if (this.state === 'CLOSED') return;
    const { peer } = this;
    this.state = 'CLOSED';
    this.afterAll(() => peer?.closed(code));
    this.network.scheduler.after(0, this.host, () => this.closed(code));
  }

  /** Nothing more is sent or received here. */
  terminate(): void {
    this.reset();
  }

  /** The connection is gone, as both kernels report. */
  reset(): void {
    const { peer, network } = this;
    for (const end of [this, peer]) {
      if (end === undefined || end.isGone) continue;
      end.state = 'CLOSED';
      end.stuck = [];
      network.scheduler.after(network.delay(), end.host, () => end.closed(NO_CLOSE_FRAME));
    }
  }

  /** Its process has died. The kernel closes the connection after the frames in flight, or these are lost. */
  vanish(): void {
    if (this.isGone) return;
    this.isGone = true;
    const wasOpen = this.state !== 'CLOSED';
    this.state = 'CLOSED';
    this.network.forget(this);
    const { peer } = this;
    if (wasOpen && peer !== undefined) this.afterAll(() => peer.closed(NO_CLOSE_FRAME));
  }

  fail(): void {
    if (this.state !== 'CONNECTING') return;
    this.state = 'CLOSED';
    this.network.scheduler.after(0, this.host, () => {
      this.onFail();
      this.closed(NO_CLOSE_FRAME);
    });
  }

  /** Reading stops: what the other side sends waits there. */
  stopReading(): void {
    this.isIdle = true;
  }

  readOn(): void {
    this.isIdle = false;
    this.peer?.flush();
  }

  /** Whether the other side does not read what is sent here. */
  get isUnread(): boolean {
    return this.peer?.isIdle === true;
  }

  /** Sends what has waited. */
  flush(): void {
    if (this.isStuck()) return;
    for (const frame of this.stuck.splice(0)) this.deliver(frame);
  }

  private isStuck(): boolean {
    if (this.peer === undefined) return false;
    return this.isUnread || this.network.isBlocked(this.host.name, this.peer.host.name);
  }

  private deliver(frame: Frame): void {
    const { network, peer } = this;
    const fate = this.isLink ? network.fate() : undefined;
    const arrives = network.scheduler.now + network.delay();
    if (fate === 'REORDERED') this.arrive(frame, network.delay() * LATE_FACTOR);
    else {
      this.lastArrival = Math.max(this.lastArrival + 1, arrives);
      if (fate !== 'DROPPED') this.arrive(frame, this.lastArrival - network.scheduler.now);
      if (fate === 'REPEATED') this.arrive(frame, network.delay() * LATE_FACTOR);
    }
    network.scheduler.after(this.lastArrival - network.scheduler.now, this.host, () => {
      this.buffered = Math.max(0, this.buffered - frame.text.length);
      frame.sent?.();
    });
    if (peer === undefined) throw new Error('an open end has a peer');
  }

  private arrive({ text }: Frame, afterNanos: number): void {
    const { peer, network } = this;
    if (peer === undefined) return;
    network.scheduler.after(afterNanos, peer.host, () => {
      if (peer.isOpenFor(this)) peer.onText(text);
    });
  }

  /** Frames in flight when this side closed still arrive, unless the receiver has ended. */
  private isOpenFor(sender: WireEnd): boolean {
    return this.state === 'OPEN' && this.peer === sender && !this.isGone;
  }

  private afterAll(act: () => void): void {
    const { network, peer } = this;
    if (peer === undefined) return;
    const at = Math.max(this.lastArrival + 1, network.scheduler.now + network.delay());
    network.scheduler.after(at - network.scheduler.now, peer.host, act);
  }

  private closed(code: number): void {
    if (this.isGone) return;
    this.isGone = true;
    this.state = 'CLOSED';
    this.network.forget(this);
    this.onClose(code);
  }
}
