import type { StreamSocket } from './socket.js';

/** Text that is made when its turn comes, so that a large snapshot need not wait as text. `size` is what it holds until then. */
export interface LaterPart {
  readonly size: number;
  readonly render: () => string;
}
export type Part = string | LaterPart;

interface Item<A> {
  readonly part: Part;
  /** Answers are never dropped. Events are, and are counted. The next snapshot makes a `STATE` superfluous. */
  readonly kind: 'ANSWER' | 'EVENT' | 'STATE';
  readonly addressee?: A;
  /** The subject of an event. */
  readonly subject?: string;
}

/** Dropped events: how many for each addressee, and their subjects. */
export interface Dropped<A> {
  readonly events: ReadonlyMap<A, number>;
  readonly subjects: ReadonlySet<string>;
}

export interface OutboxLimits {
  readonly bufferedMessages: number;
  readonly bufferedBytes: number;
}

/** How much the socket may hold before its reader has taken it. The rest waits here, where it is counted. */
const SOCKET_BYTES = 64 * 1024;
/** Senders that can wait use this part of the buffer, and leave the rest to those that cannot. */
const ROOM_PART = 4;

/** The parts that wait for one reader, in order and within its limits. `A` is the addressee of an event, one of several. */
export class Outbox<A> {
  private queue: Item<A>[] = [];
  private next = 0;
  private bytes = 0;
  private isBlocked = false;
  private isPumping = false;
  private held = false;
  private isEnded = false;
  private waitingForRoom: (() => void)[] = [];

  constructor(
    private readonly socket: StreamSocket,
    private readonly limits: OutboxLimits,
    /** Called when too much waits. It makes room with `drop`, or ends the connection. */
    private readonly onOverflow: () => void,
    /** A part could not be rendered. Only this callback can end the connection then. */
    private readonly onFault: (error: unknown) => void,
  ) {}

  get isOverfull(): boolean {
    return this.waiting > this.limits.bufferedMessages || this.bytes > this.limits.bufferedBytes;
  }

  get isHeld(): boolean {
    return this.held;
  }

  get hasRoom(): boolean {
    const { bufferedMessages, bufferedBytes } = this.limits;
    return this.waiting <= bufferedMessages / ROOM_PART && this.bytes <= bufferedBytes / ROOM_PART;
  }

  /** An answer. */
  send(part: Part): void {
    this.push({ part, kind: 'ANSWER' });
  }

  sendEvent(addressee: A, subject: string, text: string): void {
    this.push({ part: text, kind: 'EVENT', addressee, subject });
  }

  sendState(part: Part): void {
    this.push({ part, kind: 'STATE' });
  }

  /** While held, nothing leaves. */
  hold(isHeld: boolean): void {
    if (isHeld === this.held) return;
    this.held = isHeld;
    this.pump();
  }

  /** Resolves when little waits, and never in the middle of a send. */
  room(): Promise<void> {
    if (this.hasRoom) return Promise.resolve();
    return new Promise((resolve) => {
      this.waitingForRoom.push(resolve);
    });
  }

  /** Sends the parts in as few packets as possible. */
  together(sendAll: () => void): void {
    this.socket.cork();
    try {
      sendAll();
    } finally {
      this.socket.uncork();
    }
  }

  /** Drops the parts that have not left, except replies. */
  drop(): Dropped<A> {
    const events = new Map<A, number>();
    const subjects = new Set<string>();
    for (const { addressee, subject } of this.queue.slice(this.next)) {
      if (addressee !== undefined) events.set(addressee, (events.get(addressee) ?? 0) + 1);
      if (subject !== undefined) subjects.add(subject);
    }
    this.keep(({ kind }) => kind === 'ANSWER');
    return { events, subjects };
  }

  /** Keeps nothing and sends nothing from now on. */
  end(): void {
    this.isEnded = true;
    this.waitingForRoom = [];
    this.keep(() => false);
  }

  private get waiting(): number {
    return this.queue.length - this.next;
  }

  private keep(isKept: (item: Item<A>) => boolean): void {
    this.queue = this.queue.slice(this.next).filter(isKept);
    this.next = 0;
    this.bytes = this.queue.reduce((sum, item) => sum + sizeOf(item), 0);
  }

  private push(item: Item<A>): void {
    if (this.isEnded) return;
    this.queue.push(item);
    this.bytes += sizeOf(item);
    this.pump();
    if (this.isOverfull) this.onOverflow();
  }

  /** A send in the middle of another only adds to the queue, so that no part overtakes another. */
  private pump(): void {
    if (this.isPumping) return;
    this.isPumping = true;
    try {
      this.sendWaiting();
    } finally {
      this.isPumping = false;
    }
    if (this.hasRoom) for (const resolve of this.waitingForRoom.splice(0)) resolve();
  }

  private sendWaiting(): void {
    while (!this.isBlocked && !this.held) {
      const item = this.queue[this.next];
      if (item === undefined) break;
      this.next += 1;
      this.bytes -= sizeOf(item);
      this.write(typeof item.part === 'string' ? item.part : item.part.render());
    }
    if (this.next === this.queue.length) {
      this.queue = [];
      this.next = 0;
    } else if (this.next > this.limits.bufferedMessages) {
      this.queue = this.queue.slice(this.next);
      this.next = 0;
    }
  }

  private write(text: string): void {
    if (this.socket.buffered + text.length < SOCKET_BYTES) {
      this.socket.send(text);
      return;
    }
    this.isBlocked = true;
    this.socket.send(text, () => {
      this.isBlocked = false;
      try {
        this.pump();
      } catch (error) {
        this.onFault(error);
      }
    });
  }
}

/** In UTF-16 units, near enough to bytes for a bound. */
function sizeOf({ part }: Item<unknown>): number {
  return typeof part === 'string' ? part.length : part.size;
}
