import type { Pool } from 'pg';
import type { VenueId } from '../../rules/venues.js';

export interface FillListQuery {
  readonly order_id?: string;
  readonly exchange_id?: VenueId;
  readonly market_id?: string;
  readonly after?: string;
  readonly limit: number;
}

export interface FillPage {
  readonly fills: readonly unknown[];
  readonly next_after?: string;
}

interface FillRecordRow {
  readonly position: number;
  readonly leg: number;
  readonly record: string;
}

const START = /^(\d{1,15})-(\d{1,4})$/;

export const FILLS_OF_ORDER = `
  select record from execution.fills where order_id = $1 and user_id = $2 order by position, leg`;

/** A user's fills in the order in which they were booked, including those without an order. */
export class FillReader {
  constructor(private readonly pool: Pool) {}

  /** `no such fill` if `after` is not a position that this reader returns. */
  async page(user: string, query: FillListQuery): Promise<FillPage | 'no such fill'> {
    const start = query.after === undefined ? ['', '0', '-1'] : START.exec(query.after);
    if (start === null) return 'no such fill';
    const [, position = '0', leg = '-1'] = start;
    const statement = fillListStatement(user, query, { position: Number(position), leg: Number(leg) });
    const { rows } = await this.pool.query<FillRecordRow>(statement);
    const shown = rows.slice(0, query.limit);
    const last = shown.at(-1);
    const fills = shown.map(({ record }): unknown => JSON.parse(record));
    return {
      fills,
      ...(rows.length > query.limit && last !== undefined
        ? { next_after: `${last.position}-${last.leg}` }
        : {}),
    };
  }

  /** Oldest first. */
  async ofOrder(user: string, orderId: string): Promise<readonly unknown[]> {
    const { rows } = await this.pool.query<{ record: string }>({
      name: 'execution-fills-of-order',
      text: FILLS_OF_ORDER,
      values: [orderId, user],
    });
    return rows.map(({ record }): unknown => JSON.parse(record));
  }
}

export function fillListStatement(
  user: string,
  query: FillListQuery,
  after: { readonly position: number; readonly leg: number },
): { text: string; values: unknown[] } {
  const values: unknown[] = [user, after.position, after.leg, query.limit + 1];
  const filters = (['order_id', 'exchange_id', 'market_id'] as const).flatMap((name) =>
    query[name] === undefined ? [] : [` and ${name} = $${values.push(query[name])}`],
  );
  const text = `
    select position, leg, record from execution.fills
    where user_id = $1 and (position, leg) > ($2::bigint, $3::smallint)${filters.join('')}
    order by position, leg limit $4`;
  return { text, values };
}
