import { repeat, pause, type Cancel } from '#libs/platform/time/clock.js';
import type { Instant } from '#libs/base/instant.js';
import type { ObservedFill } from '../protocol/cell-protocol.js';
import type { ObservedAccountOrder } from '../venues/port.js';
import { lookOf, passOver, type PassOf } from './account-pass.js';
import type { Turns } from './turns.js';

export interface WatchPorts extends PassOf {
  /** Shared by all accounts, so that their reads do not delay orders. */
  readonly turns: Turns;
  readonly onFault: (what: string, error: unknown) => void;
}

/**
 * Money from outside must be booked within 5 s, and no feed reports it. Reading balances is much cheaper than a full
 * pass, so balances are polled and the account is read only after a change.
 */
const POLL_MILLIS = 3_000;
const AGAIN_MILLIS = 1_000;
const MOST_WAITING = 10_000;

/**
 * Follows one linked account. Feed events are passed on at once. The whole account is read on request, on reconnect,
 * and when its balances change.
 */
export class AccountWatch {
  private fills: ObservedFill[] = [];
  private orders: ObservedAccountOrder[] = [];
  private isHandingOver = false;
  private since: Instant | undefined;
  private balances: string | undefined;
  private passing: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  private cancelPolling: Cancel = () => undefined;
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
    this.cancelPolling = repeat(this.ports.clock, POLL_MILLIS, () => this.checkBalances());
  }

  stop(): void {
    this.isStopped = true;
    this.cancelPolling();
    this.feed?.close();
  }

  /** Resolves after a full read of the account that began after this call. Failures are reported, not thrown. */
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

  private async checkBalances(): Promise<void> {
    await this.guarded('balances', async () => {
      const seen = await this.ports.turns.take(async () => lookOf(await this.ports.account.balances()));
      if (seen !== this.balances) await this.pass();
    });
  }

  /**
   * Sends feed events in their order, many at once if they come faster than the cell answers. A pass finds what is
   * lost.
   */
  private async handOver(): Promise<void> {
    if (this.isHandingOver || this.isStopped) return;
    this.isHandingOver = true;
    try {
      while (this.fills.length + this.orders.length > 0) {
        const { fills, orders } = this;
        [this.fills, this.orders] = [[], []];
        if (await this.guarded('feed', () => this.report(fills, orders))) continue;
        if (this.fills.length + this.orders.length > MOST_WAITING) [this.fills, this.orders] = [[], []];
        await pause(this.ports.clock, AGAIN_MILLIS);
        void this.pass();
      }
    } finally {
      this.isHandingOver = false;
    }
  }

  private async report(
    fills: readonly ObservedFill[],
    orders: readonly ObservedAccountOrder[],
  ): Promise<void> {
    const { user_id, venue, cell, account } = this.ports;
    await cell.observed({ user_id, venue, account: account.account, fills, orders });
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
