import type { Ground } from '../ground/ground.js';
import { acceptedIn, type OrderFloor } from '../ground/order-floor.js';
import type { OrderMessage, OrderSocket } from '../load/order-socket.js';
import { alternating } from '../alternating.js';
import { noSlowerThan, type RowOutcome, type Row, type Settings } from '../row.js';

const ORDERS = 1_000;
const FEW = 20;
const MARKETS = 4;
const AT_ONCE = 8;

/** Until the last order is reported as cancelled. */
export const cancelAll: Row = {
  name: 'cancel-all',
  title: 'Cancel-all of 1,000 resting orders of one trader, compared with 1,000 single cancels',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.orders();
    const book = await RestingOrders.open(floor, settings.quick ? FEW : ORDERS);
    const replies: number[] = [];
    const { medians, runs } = await alternating(
      {
        all: async () => {
          await book.fill();
          return book.emptied(async () => {
            const begun = performance.now();
            await book.socket.ask('order.cancel_all', { exchange_id: 'venue_b' });
            replies.push(performance.now() - begun);
          });
        },
        single: async () => {
          await book.fill();
          return book.emptied(async () => {
            for (const order_id of book.live) await book.socket.ask('order.cancel', { order_id });
          });
        },
      },
      settings,
    );
    await floor.clear();
    const single = { name: 'single cancels', measured: medians.single };
    return {
      checks: [noSlowerThan('all cancelled', 'ms', medians.all, single, { minimum: 0.1, goal: 0.1 })],
      details: { runs, replies },
    };
  },
};

/** The orders of one trader in a few markets, as reported on its socket. */
class RestingOrders {
  live: string[] = [];
  private readonly statuses = new Map<string, string>();
  private onStatus: (id: string, status: string) => void = () => undefined;

  private constructor(
    private readonly floor: OrderFloor,
    private readonly markets: readonly string[],
    private readonly size: number,
    readonly socket: OrderSocket,
    private readonly others: readonly OrderSocket[],
  ) {
    socket.onMessage = (message) => {
      this.onUpdate(message);
    };
  }

  static async open(floor: OrderFloor, size: number): Promise<RestingOrders> {
    const socket = await floor.socketOf(0);
    await socket.subscribe();
    const others: OrderSocket[] = [];
    for (let number = 0; number < AT_ONCE; number += 1) others.push(await floor.socketOf(0));
    return new RestingOrders(floor, await floor.markets(MARKETS), size, socket, others);
  }

  /** Resolves once all of them rest at the venue. */
  async fill(): Promise<void> {
    this.live = [];
    this.statuses.clear();
    let left = this.size;
    await Promise.all(
      this.others.map(async (socket) => {
        while (left > 0) {
          left -= 1;
          const market = this.markets[left % this.markets.length] ?? '';
          const reply = await socket.ask('order.submit', { order: this.floor.resting(market) });
          this.live.push(acceptedIn(reply));
        }
      }),
    );
    await this.until('open');
  }

  /** Milliseconds until all of them are reported as cancelled. */
  async emptied(cancel: () => Promise<void>): Promise<number> {
    const begun = performance.now();
    await cancel();
    await this.until('cancelled');
    return performance.now() - begun;
  }

  private async until(status: string): Promise<void> {
    const missing = new Set(this.live.filter((id) => this.statuses.get(id) !== status));
    if (missing.size === 0) return;
    await new Promise<void>((resolve) => {
      this.onStatus = (id, now) => {
        if (now === status) missing.delete(id);
        if (missing.size === 0) resolve();
      };
    });
    this.onStatus = () => undefined;
  }

  private onUpdate({ type, order }: OrderMessage): void {
    if (type !== 'order_update') return;
    const { order_id: id, status } = order as { readonly order_id: string; readonly status: string };
    this.statuses.set(id, status);
    this.onStatus(id, status);
  }
}
