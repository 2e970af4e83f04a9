import { instantFromNanos, plusMillis, type Instant } from '#libs/base/instant.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import type { ObservedFill } from '../../protocol/cell-protocol.js';
import { VenueUnavailable, type ObservedAccountOrder, type VenueAccount } from '../port.js';

export interface PolledFeedPorts {
  readonly clock: Clock;
  /** Called when something of this account is about to change. */
  readonly wake: (account: string) => void;
  readonly onWake: (account: string, listener: () => void) => Cancel;
  readonly onFault: (error: unknown) => void;
}

interface Polled {
  fills(since: Instant): Promise<readonly ObservedFill[]>;
  openOrders(): Promise<readonly ObservedAccountOrder[]>;
  currentOrder(order: ObservedAccountOrder): Promise<ObservedAccountOrder | undefined>;
}

const BUSY_MILLIS = 500;
const IDLE_MILLIS = 2_000;
/** How long after a submit the venue may take to show its result. */
const AWAKE_NANOS = 3_000_000_000n;
/** Fills that the venue shows late are read again. */
const OVERLAP_MILLIS = 5_000;

/** The venue does not push order updates, so it is polled: often while an order rests, seldom otherwise. */
export class PolledFeed {
  private known = new Set<string>();
  private open = new Map<string, ObservedAccountOrder>();
  private since: Instant;
  private awakeUntil = 0n;
  private isAway = false;
  private isPolling = false;
  private isClosed = false;
  private cancel: Cancel = () => undefined;
  private sleep: Cancel = () => undefined;

  constructor(
    private readonly account: Polled,
    private readonly on: Parameters<VenueAccount['follow']>[0],
    private readonly ports: PolledFeedPorts,
    private readonly name: string,
  ) {
    this.since = instantFromNanos(ports.clock.epochNanos());
  }

  start(): void {
    this.sleep = this.ports.onWake(this.name, () => {
      this.awakeUntil = this.ports.clock.monotonicNanos() + AWAKE_NANOS;
      if (!this.isPolling) this.after(BUSY_MILLIS);
    });
    this.after(0);
  }

  close(): void {
    this.isClosed = true;
    this.cancel();
    this.sleep();
  }

  private after(millis: number): void {
    if (this.isClosed) return;
    this.cancel();
    this.cancel = this.ports.clock.after(millis, () => {
      void this.poll();
    });
  }

  private async poll(): Promise<void> {
    this.isPolling = true;
    try {
      await this.read();
      if (this.isAway) this.on.reconnected();
      this.isAway = false;
    } catch (error) {
      this.isAway = true;
      if (!(error instanceof VenueUnavailable)) this.ports.onFault(error);
    } finally {
      this.isPolling = false;
      const isAwake = this.open.size > 0 || this.ports.clock.monotonicNanos() < this.awakeUntil;
      this.after(isAwake ? BUSY_MILLIS : IDLE_MILLIS);
    }
  }

  private async read(): Promise<void> {
    const began = instantFromNanos(this.ports.clock.epochNanos());
    const orders = await this.account.openOrders();
    const fills = await this.account.fills(this.since);
    const open = new Map(orders.map((order) => [order.exchange_order_id, order]));
    const gone = [...this.open].filter(([id]) => !open.has(id)).map(([, order]) => order);
    const ended = await Promise.all(gone.map((order) => this.account.currentOrder(order)));
    if (this.isClosed) return;
    for (const fill of fills) if (!this.known.has(fill.fill.fill_id)) this.on.fill(fill);
    for (const [id, order] of open) if (!this.open.has(id)) this.on.order(order);
    for (const order of ended) if (order !== undefined) this.on.order(order);
    this.known = new Set(fills.map(({ fill }) => fill.fill_id));
    this.open = open;
    this.since = plusMillis(began, -OVERLAP_MILLIS);
  }
}
