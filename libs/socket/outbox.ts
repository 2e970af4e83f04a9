import type { StreamSocket } from './socket.js';

/** A part rendered only when it is sent, so that a large snapshot does not wait as text. `size` counts until then. */
export interface LaterPart {
  readonly size: number;
  readonly render: () => string;
}
export type Part = string | LaterPart;

interface Item<A> {
  readonly part: Part;
  /** An `ANSWER` is never dropped. Dropped `EVENT`s are counted. A dropped `STATE` is replaced by the next snapshot. */
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

/** How much unread data the socket may hold. The rest waits in the outbox, where it is counted. */
const SOCKET_BYTES = 64 * 1024;
/** Senders that can wait use one part in four of the buffer, and leave the rest to senders that cannot. */
const ROOM_PART = 4;

/** The parts waiting for one reader, in order and bounded. `A` is the type of an event's addressee. */
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
    /** Called when too much waits. Must make room with `drop` or end the connection. */
    private readonly onOverflow: () => void,
    /** Called when a part cannot be rendered. Must end the connection. */
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

  /** Sends a reply, which is never dropped. */
  send(part: Part): void {
    this.push({ part, kind: 'ANSWER' });
  }

  sendEvent(addressee: A, subject: string, text: string): void {
    this.push({ part: text, kind: 'EVENT', addressee, subject });
  }

  sendState(part: Part): void {
    this.push({ part, kind: 'STATE' });
  }

  /** With `true` the outbox sends nothing until the next `false`. */
  hold(isHeld: boolean): void {
    if (isHeld === this.held) return;
    this.held = isHeld;
    this.pump();
  }

  /** Resolves when a quarter of the limits or less is used, and never in the middle of a send. */
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

  /** Drops the unsent parts, except replies. */
  drop(): Dropped<A> {
    const events = new Map<A, number>();
    const subjects = new Set<string>();
    for (const { addressee, subject } of this.queue.slice(this.next)) {
      if (addressee !== undefined) events.set(addressee, (events.get(addressee) ?? 0) + 1);
      if (subject !== undefined) subjects.add(subject);
    }
    this.retain(({ kind }) => kind === 'ANSWER');
    return { events, subjects };
  }

  /** Discards all parts. Sends nothing from now on. */
  end(): void {
    this.isEnded = true;
    this.waitingForRoom = [];
    this.retain(() => false);
  }

  private get waiting(): number {
    return this.queue.length - this.next;
  }

  private retain(isKept: (item: Item<A>) => boolean): void {
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

  /** A send during another send only adds to the queue, so that no part overtakes another. */
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

/** In UTF-16 units, which is close enough to bytes for a bound. */
function sizeOf({ part }: Item<unknown>): number {
  return typeof part === 'string' ? part.length : part.size;
}
