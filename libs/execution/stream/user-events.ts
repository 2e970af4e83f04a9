import type { JournalReader } from '#libs/journal/journal.js';
import { readCellEvent } from './cell-feed.js';
import { isOrderEvent, type JournaledEvent } from './told.js';

export interface EventPage {
  readonly events: readonly JournaledEvent[];
  /** The events are complete up to this position. */
  readonly upTo: number;
}

/** Past events of a user's cell, for reconnecting clients. Undefined if they do not reach back far enough. */
export interface UserEvents {
  /** The user's events after `position`: at least one if there are any, and about `limit` at most. */
  after(user: string, cell: number, position: number, limit: number): Promise<EventPage | undefined>;
  /** All events of an order up to `position`. Also undefined while that position is not reached. */
  ofOrder(orderId: string, cell: number, position: number): Promise<readonly JournaledEvent[] | undefined>;
}

/** Reads the journal itself, so it never lags. Reaches back a limited number of records. */
export class JournalUserEvents implements UserEvents {
  constructor(
    private readonly reader: JournalReader,
    private readonly reach: number,
  ) {}

  async after(user: string, cell: number, position: number, limit: number): Promise<EventPage | undefined> {
    const head = await this.head(cell);
    if (position < head - this.reach) return undefined;
    const events: JournaledEvent[] = [];
    let upTo = position;
    while (upTo < head && events.length < limit) {
      const page = await this.page(cell, upTo + 1, Math.min(PAGE, head - upTo));
      events.push(...page.filter(({ event }) => event.user_id === user));
      upTo = Math.min(head, upTo + PAGE);
    }
    return { events, upTo };
  }

  async ofOrder(
    orderId: string,
    cell: number,
    position: number,
  ): Promise<readonly JournaledEvent[] | undefined> {
    const first = Math.max(1, (await this.head(cell)) - this.reach);
    const events: JournaledEvent[] = [];
    for (let to = position; to >= first; to -= PAGE) {
      const from = Math.max(first, to - PAGE + 1);
      const page = await this.page(cell, from, to - from + 1);
      events.unshift(...page.filter(({ event }) => isOrderEvent(event) && event.order_id === orderId));
      if (events[0]?.event.type === 'ORDER_ACCEPTED' || events[0]?.event.type === 'EXTERNAL_ORDER_FOUND')
        return events;
    }
    return undefined;
  }

  private async head(cell: number): Promise<number> {
    return (await this.reader.heads([cell])).get(cell) ?? 0;
  }

  private async page(cell: number, from: number, limit: number): Promise<JournaledEvent[]> {
    const entries = await this.reader.read(cell, from, limit);
    return entries.flatMap((entry) => readCellEvent(entry) ?? []);
  }
}

const PAGE = 512;

/** Uses the journal for recent events, and its projection, which may lag, for all others. */
export class LayeredUserEvents implements UserEvents {
  constructor(
    private readonly recent: UserEvents,
    private readonly projected: UserEvents,
  ) {}

  async after(user: string, cell: number, position: number, limit: number): Promise<EventPage | undefined> {
    const page = await this.recent.after(user, cell, position, limit);
    return page ?? this.projected.after(user, cell, position, limit);
  }

  async ofOrder(
    orderId: string,
    cell: number,
    position: number,
  ): Promise<readonly JournaledEvent[] | undefined> {
    const events = await this.projected.ofOrder(orderId, cell, position);
    return events ?? this.recent.ofOrder(orderId, cell, position);
  }
}
