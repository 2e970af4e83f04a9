import { repeat, pause, type Cancel } from '#libs/platform/time/clock.js';
import type { Instant } from '#libs/base/instant.js';
import type { ObservedFill } from '../protocol/cell-protocol.js';
import type { ObservedAccountOrder } from '../venues/port.js';
import { lookOf, passOver, type PassOf } from './account-pass.js';
import type { Turns } from './turns.js';

export interface WatchPorts extends PassOf {
  /** Shared by all accounts, so that many of them do not keep orders from the venue. */
  readonly turns: Turns;
  readonly onFault: (what: string, error: unknown) => void;
}

/**
 * Money from outside must be booked within 5 s, and no feed tells of it. One look at the balances costs a fraction of a pass over the whole
 * account, so every account is looked at this often, and read only where something has changed.
 */
const LOOK_MILLIS = 3_000;
const AGAIN_MILLIS = 1_000;
const MOST_WAITING = 10_000;

/** One linked account: its feed is handed on as it comes, and it is read whole when asked, on reconnect, and when its balances have changed. */
export class AccountWatch {
  private fills: ObservedFill[] = [];
  private orders: ObservedAccountOrder[] = [];
  private isHandingOver = false;
  private since: Instant | undefined;
  private balances: string | undefined;
  private passing: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  private cancelLook: Cancel = () => undefined;
  private feed: { close(): void } | undefined;
  private isStopped = false;

  constructor(private readonly ports: WatchPorts) {}

  start(): void {
    this.feed = this.ports.account.follow({
      fill: (fill) => {
        this.fills.push(fill);
        void this.handOver();
      },
      order: (order) => {
        this.orders.push(order);
        void this.handOver();
      },
      reconnected: () => {
        void this.pass();
      },
    });
    this.cancelLook = repeat(this.ports.clock, LOOK_MILLIS, () => this.look());
  }

  stop(): void {
    this.isStopped = true;
    this.cancelLook();
    this.feed?.close();
  }

  /** Resolves when the account has been read from a moment on that is not before now. Failures are told and not thrown. */
  pass(): Promise<void> {
    if (this.passing === undefined) {
      this.passing = this.passed().finally(() => {
        this.passing = undefined;
      });
      return this.passing;
    }
    this.next ??= this.passing.then(() => {
      this.next = undefined;
      return this.pass();
    });
    return this.next;
  }

  private async passed(): Promise<void> {
    if (this.isStopped) return;
    await this.guarded('reconcile', async () => {
      const { since, balances } = await this.ports.turns.take(() => passOver(this.ports, this.since));
      this.since = since;
      this.balances = balances;
    });
  }

  private async look(): Promise<void> {
    await this.guarded('balances', async () => {
      const look = await this.ports.turns.take(async () => lookOf(await this.ports.account.balances()));
      if (look !== this.balances) await this.pass();
    });
  }

  /** In the order in which they came, many at once where they come faster than the cell hears. What is lost a pass finds. */
  private async handOver(): Promise<void> {
    if (this.isHandingOver || this.isStopped) return;
    this.isHandingOver = true;
    try {
      while (this.fills.length + this.orders.length > 0) {
        const { fills, orders } = this;
        [this.fills, this.orders] = [[], []];
        if (await this.guarded('feed', () => this.tell(fills, orders))) continue;
        if (this.fills.length + this.orders.length > MOST_WAITING) [this.fills, this.orders] = [[], []];
        await pause(this.ports.clock, AGAIN_MILLIS);
        void this.pass();
      }
    } finally {
      this.isHandingOver = false;
    }
  }

  private async tell(fills: readonly ObservedFill[], orders: readonly ObservedAccountOrder[]): Promise<void> {
    const { user_id, venue, cell } = this.ports;
    await cell.observed({ user_id, venue, fills, orders });
  }

  private async guarded(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.ports.onFault(what, error);
      return false;
    }
  }
}
