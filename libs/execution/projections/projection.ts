import type { ClientBase } from 'pg';
import { OffsetsTable } from '#libs/projecting/offsets.js';
import type {
  JournalBatch,
  Projection,
  ProjectionWriter,
  Recall,
  SchemaOf,
} from '#libs/projecting/projection.js';
import { emptyHoldings, evolveHoldings, isHoldingEvent, type Holdings } from '../rules/holdings.js';
import { isTerminal, type OrderState } from '../rules/order.js';
import { decodeCellEvents, type JournaledCellEvent } from './decoded-batch.js';
import { fillRow, pairRows } from './fill-rows.js';
import { countsFill, foldOrders, type FoldedOrders } from './order-fold.js';
import { changedHoldings } from './stored-holdings.js';
import { CellEventsTable } from './tables/events.js';
import { FillsTable, type FillRow } from './tables/fills.js';
import { HoldingsTable, type HoldingRowOf } from './tables/holdings.js';
import { OrdersTable } from './tables/orders.js';

const REMEMBERED = 40_000;

/** The cached state of one key: a live order, or a user's holdings. */
export type KeptOfCell = { readonly order: OrderState } | { readonly holdings: Holdings };

/** The projection of everything the cells have journaled about users. */
export const executionProjection: Projection<KeptOfCell> = {
  name: 'execution',
  family: 'execution',
  offsets: { schema: 'execution', name: 'projection_offsets' },
  tables: [
    { schema: 'execution', name: 'orders', key: ['order_id'], shard: 'cell' },
    { schema: 'execution', name: 'events', key: ['cell', 'position'], shard: 'cell' },
    { schema: 'execution', name: 'fills', key: ['fill_id'], shard: 'cell' },
    { schema: 'execution', name: 'holdings', key: ['user_id', 'part', 'key'], shard: 'cell' },
  ],
  capacity: REMEMBERED,
  writer: (schemaOf) => new ExecutionProjectionWriter(schemaOf),
};

export const executionOffsets = new OffsetsTable(executionProjection);

interface HoldingsStep {
  readonly before: Holdings;
  readonly after: Holdings;
}

class ExecutionProjectionWriter implements ProjectionWriter<KeptOfCell> {
  private readonly orders: OrdersTable;
  private readonly events: CellEventsTable;
  private readonly fills: FillsTable;
  private readonly holdings: HoldingsTable;

  constructor(schemaOf: SchemaOf) {
    this.orders = new OrdersTable(schemaOf);
    this.events = new CellEventsTable(schemaOf);
    this.fills = new FillsTable(schemaOf);
    this.holdings = new HoldingsTable(schemaOf);
  }

  async apply(
    client: ClientBase,
    { shard: cell, entries }: JournalBatch,
    recall: Recall<KeptOfCell>,
  ): Promise<ReadonlyMap<string, KeptOfCell | undefined>> {
    const events = decodeCellEvents(entries);
    const folded = await foldOrders(events, {
      recall: (id) => orderIn(recall(orderKey(id))),
      read: (ids) => this.orders.read(client, ids),
    });
    const before = await this.holdingsBefore(client, usersWithChanges(events, folded), recall);
    const { held, fills } = foldHoldings(events, folded, before);
    await this.orders.put(client, cell, [...folded.orders.values()]);
    await this.events.insert(client, cell, events, folded);
    await this.fills.insert(client, cell, fills);
    await this.holdings.put(client, cell, rowsOf(held));
    return new Map([...cachedOrders(folded), ...cachedHoldings(held)]);
  }

  private async holdingsBefore(
    client: ClientBase,
    users: ReadonlySet<string>,
    recall: Recall<KeptOfCell>,
  ): Promise<Map<string, Holdings>> {
    const found = new Map<string, Holdings>();
    for (const user of users) {
      const remembered = holdingsIn(recall(userKey(user)));
      if (remembered !== undefined) found.set(user, remembered);
    }
    const wanted = [...users].filter((user) => !found.has(user));
    return new Map([...found, ...(await this.holdings.read(client, wanted))]);
  }
}

/** The users whose holdings the batch changes. */
function usersWithChanges(events: readonly JournaledCellEvent[], { steps }: FoldedOrders): Set<string> {
  const moved = events.filter(
    ({ position, event }) => isHoldingEvent(event) || isCounted(position, event, steps),
  );
  return new Set(moved.map(({ event }) => event.user_id));
}

function isCounted(
  position: number,
  { type }: JournaledCellEvent['event'],
  steps: FoldedOrders['steps'],
): boolean {
  const step = steps.get(position);
  return type === 'ORDER_FILLED' && step !== undefined && countsFill(step);
}

function foldHoldings(
  events: readonly JournaledCellEvent[],
  { steps, orders }: FoldedOrders,
  known: ReadonlyMap<string, Holdings>,
): { readonly held: ReadonlyMap<string, HoldingsStep>; readonly fills: readonly FillRow[] } {
  const held = new Map<string, HoldingsStep>();
  const fills: FillRow[] = [];
  for (const { position, event } of events) {
    if (!isHoldingEvent(event) && !isCounted(position, event, steps)) continue;
    const user = event.user_id;
    const first = held.get(user)?.before ?? known.get(user) ?? emptyHoldings;
    const last = held.get(user)?.after ?? first;
    const order = steps.get(position)?.after;
    if (event.type === 'ORDER_FILLED' && order !== undefined) fills.push(fillRow(order, { position, event }));
    if (event.type === 'PAIRS_PAID') fills.push(...pairRows(last, { position, event }));
    held.set(user, { before: first, after: evolveHoldings(last, event, (id) => orders.get(id)) });
  }
  return { held, fills };
}

function rowsOf(held: ReadonlyMap<string, HoldingsStep>): HoldingRowOf[] {
  return [...held].flatMap(([user_id, { before, after }]) =>
    changedHoldings(before, after).map((row) => ({ ...row, user_id })),
  );
}

function cachedOrders({ orders }: FoldedOrders): [string, KeptOfCell | undefined][] {
  return [...orders].map(([id, order]) => [orderKey(id), isTerminal(order) ? undefined : { order }]);
}

function cachedHoldings(held: ReadonlyMap<string, HoldingsStep>): [string, KeptOfCell][] {
  return [...held].map(([user, { after }]) => [userKey(user), { holdings: after }]);
}

function orderKey(id: string): string {
  return `order ${id}`;
}

function userKey(id: string): string {
  return `user ${id}`;
}

function orderIn(kept: KeptOfCell | undefined): OrderState | undefined {
  return kept !== undefined && 'order' in kept ? kept.order : undefined;
}

function holdingsIn(kept: KeptOfCell | undefined): Holdings | undefined {
  return kept !== undefined && 'holdings' in kept ? kept.holdings : undefined;
}
