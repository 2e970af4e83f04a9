import type { ClientBase } from 'pg';
import { bookTransactions, type TradingTransaction } from '#libs/ledger/trading-books.js';
import { VaultTransfers, type VaultTransfer } from '#libs/ledger/vault-transfers.js';
import type { JournalBatch, Projection, ProjectionWriter, Recall } from '#libs/projecting/projection.js';
import type { CellEvent } from '../../rules/events.js';
import { isHoldingEvent } from '../../rules/holdings.js';
import { isTerminal, type OrderState } from '../../rules/order.js';
import { CAPABILITIES, tradingDomain } from '../../rules/venues.js';
import { decodeCellEvents, isOfOrder, type JournaledCellEvent } from '../decoded-batch.js';
import { foldOrders } from '../order-fold.js';
import { BookedTable } from './booked-table.js';
import {
  holdingBookings,
  orderBookings,
  transferBookings,
  type BookedTransfer,
  type Booking,
  type TransferEvent,
} from './postings.js';

const REMEMBERED = 20_000;

/**
 * Enters the cells' events in the ledger, each batch in one transaction with the offset. It is followed like a
 * projection but never rebuilt: entries of the ledger stay.
 */
export const executionBooker: Projection<OrderState> = {
  name: 'execution-ledger',
  family: 'execution',
  offsets: { schema: 'custody', name: 'booking_offsets' },
  tables: [],
  capacity: REMEMBERED,
  writer: () => new Booker(),
};

class Booker implements ProjectionWriter<OrderState> {
  private readonly booked = new BookedTable();

  async apply(
    client: ClientBase,
    { shard: cell, entries }: JournalBatch,
    recall: Recall<OrderState>,
  ): Promise<ReadonlyMap<string, OrderState | undefined>> {
    const events = decodeCellEvents(entries);
    const folded = await foldOrders(events, { recall, read: (ids) => this.booked.orders(client, ids) });
    const steps = await this.transferSteps(client, events);
    await this.booked.put(client, cell, folded.orders.values(), afterAll(events, steps));
    const bookings: Booking[] = [];
    for (const { position, event } of events) {
      const step = folded.steps.get(position);
      const transfer = steps.get(position);
      if (isOfOrder(event) && step !== undefined) bookings.push(...orderBookings(event, step));
      else if (isTransferEvent(event) && transfer !== undefined)
        bookings.push(...transferBookings(event, transfer));
      else if (isHoldingEvent(event))
        bookings.push(...holdingBookings(event, await this.pairOf(client, event)));
    }
    await bookTransactions(client, bookings.map(inDomains));
    await moveInVault(client, events, steps);
    return new Map([...folded.orders].map(([id, order]) => [id, isTerminal(order) ? undefined : order]));
  }

  /** Each transfer before its event, by the event's position. */
  private async transferSteps(
    client: ClientBase,
    events: readonly JournaledCellEvent[],
  ): Promise<Map<number, BookedTransfer>> {
    const ofTransfers = events.flatMap(({ position, event }) =>
      isTransferEvent(event) ? [{ position, event }] : [],
    );
    const wanted = ofTransfers.flatMap(({ event }) => ('transfer_id' in event ? [event.transfer_id] : []));
    const known = await this.booked.transfers(client, wanted);
    const steps = new Map<number, BookedTransfer>();
    for (const { position, event } of ofTransfers) {
      const id = event.type === 'TRANSFER_HELD' ? event.terms.transfer_id : event.transfer_id;
      const before =
        event.type === 'TRANSFER_HELD'
          ? { terms: event.terms, user: event.user_id, is_sent: false }
          : known.get(id);
      if (before === undefined) throw new Error(`transfer ${id} has an event and was never held`);
      steps.set(position, before);
      known.set(id, { ...before, is_sent: before.is_sent || event.type === 'TRANSFER_SENT' });
    }
    return steps;
  }

  private async pairOf(client: ClientBase, event: CellEvent): Promise<readonly string[]> {
    if (event.type !== 'PAIRS_PAID') return [];
    const { user_id, venue, market_id } = event;
    const tokens = await this.booked.tokens(client, user_id, venue, market_id);
    return tokens.length === 2 ? tokens : [`${market_id}:Yes`, `${market_id}:No`];
  }
}

function isTransferEvent(event: CellEvent): event is TransferEvent {
  return event.type.startsWith('TRANSFER_');
}

/** The transfers for later events, with whether each was sent. */
function afterAll(
  events: readonly JournaledCellEvent[],
  steps: ReadonlyMap<number, BookedTransfer>,
): BookedTransfer[] {
  const last = new Map<string, BookedTransfer>();
  for (const { position, event } of events) {
    const before = steps.get(position);
    if (before === undefined) continue;
    const isSent = before.is_sent || event.type === 'TRANSFER_SENT';
    last.set(before.terms.transfer_id, { ...before, is_sent: isSent });
  }
  return [...last.values()];
}

function inDomains({ kind, cause, entries }: Booking): TradingTransaction {
  return {
    kind,
    cause,
    entries: entries.map((entry) => ({ ...entry, domain: tradingDomain(entry.venue) })),
  };
}

/** The vault's half of a transfer. It is usually held when it is accepted; if not, it is held now. */
async function moveInVault(
  client: ClientBase,
  events: readonly JournaledCellEvent[],
  steps: ReadonlyMap<number, BookedTransfer>,
): Promise<void> {
  const vault = new VaultTransfers(client);
  for (const { position, event } of events) {
    const transfer = steps.get(position);
    if (transfer === undefined) continue;
    const { direction, transfer_id: id } = transfer.terms;
    if (direction === 'to_vault') {
      if (event.type === 'TRANSFER_COMPLETED') await vault.receive(ofVault(transfer));
    } else if (event.type === 'TRANSFER_HELD') {
      const held = await vault.hold(ofVault(transfer));
      if (held === 'too little') throw new Error(`the vault has too little for transfer ${id}`);
    } else if (event.type === 'TRANSFER_SENT') {
      await vault.send(id);
    } else {
      await vault.end(id, event.type === 'TRANSFER_COMPLETED');
    }
  }
}

function ofVault({ terms, user: account }: BookedTransfer): VaultTransfer {
  const { transfer_id, venue, asset, token, amount } = terms;
  const isMoney = asset === CAPABILITIES[venue].settlement_currency;
  return { transfer_id, account, venue, asset: isMoney ? '' : (token?.vault_asset ?? asset), amount };
}
