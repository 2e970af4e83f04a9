import type { Clock } from '#libs/platform/time/clock.js';
import type { OrderEvent } from '../rules/events.js';

type Listener = (event: OrderEvent) => void;

/** Lets callers wait for an event of an order. */
export class Outcomes {
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(private readonly clock: Clock) {}

  committed(event: OrderEvent): void {
    for (const listener of this.listeners.get(event.order_id) ?? []) listener(event);
  }

  /** The first event of the order that matches `isIt`. Undefined if none comes in time. */
  next(
    order_id: string,
    isIt: (event: OrderEvent) => boolean,
    millis: number,
  ): Promise<OrderEvent | undefined> {
    return new Promise((resolve) => {
      const own = this.listeners.get(order_id) ?? new Set<Listener>();
      this.listeners.set(order_id, own);
      const end = (event?: OrderEvent): void => {
        cancel();
        own.delete(listener);
        if (own.size === 0) this.listeners.delete(order_id);
        resolve(event);
      };
      const listener: Listener = (event) => {
        if (isIt(event)) end(event);
      };
      const cancel = this.clock.after(millis, () => {
        end();
      });
      own.add(listener);
    });
  }
}
