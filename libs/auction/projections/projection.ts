import type { ClientBase } from 'pg';
import { JournalCorrupt } from '#libs/journal/journal-errors.js';
import type { JournalEntry, JournalHead } from '#libs/journal/journal.js';
import { changedQuotes, fold, isOverForAnybody, newlyOverFor, type FoldedAuction } from './folded-auction.js';
import { readBatch, type JournalBatch } from './journal-batch.js';
import type { Schemas } from '#libs/projecting/schemas.js';
import { AnswersTable } from './tables/answers.js';
import { CompletedTables, type OverFor } from './tables/completed-auctions.js';
import { EventsTable } from './tables/events.js';
import { PositionsTable } from '#libs/projecting/positions.js';
import { QuotesTable } from './tables/quotes.js';

/** An auction at two positions of a shard that is known to be there already. */
export type Recall = (position: number, auctionId: string) => FoldedAuction | undefined;

export interface Applied {
  readonly from: number;
  readonly to: number;
  /** Auctions with an event between the two, as they are now. */
  readonly touched: ReadonlyMap<string, FoldedAuction>;
}

interface Step {
  readonly before: FoldedAuction | undefined;
  readonly after: FoldedAuction;
  /** For whom it became over in between. */
  readonly over: readonly OverFor[];
}

const NOTHING: Recall = () => undefined;

/** The entries do not begin where the shard's position ends. */
export class PositionGap extends Error {
  override readonly name = 'PositionGap';

  constructor(shard: number, position: number, next: number) {
    super(`shard ${shard} is projected up to ${position} and cannot go on with ${next}`);
  }
}

/**
 * Writes what journal entries say into rows. Everything in a row comes from the journal alone, and how entries are cut into
 * batches makes no difference to what the rows hold after them.
 */
export class Projection {
  private readonly positions: PositionsTable;
  private readonly events: EventsTable;
  private readonly quotes: QuotesTable;
  private readonly completed: CompletedTables;
  private readonly answers: AnswersTable;

  constructor(schemas: Schemas) {
    this.positions = new PositionsTable(schemas);
    this.events = new EventsTable(schemas);
    this.quotes = new QuotesTable(schemas);
    this.completed = new CompletedTables(schemas);
    this.answers = new AnswersTable(schemas);
  }

  /**
   * Takes entries of one shard, in order, within the caller's transaction. Those that the position has passed are left out,
   * and the position moves in the same transaction: entries may come again, from anybody, and nothing changes.
   */
  async apply(
    client: ClientBase,
    shard: number,
    entries: readonly JournalEntry[],
    recall = NOTHING,
  ): Promise<Applied> {
    const position = await this.positions.lock(client, shard);
    const fresh = entries.filter(({ sequence }) => sequence > position.sequence);
    const last = fresh.at(-1);
    if (last === undefined) return { from: position.sequence, to: position.sequence, touched: new Map() };
    checkFollows(shard, position, fresh);
    const batch = readBatch(shard, fresh);
    const steps = await this.fold(client, batch, (id) => recall(position.sequence, id));
    await this.events.insert(client, shard, batch.ofAuctions);
    await this.write(client, shard, steps);
    await this.answers.put(client, shard, batch.ofShard);
    await this.positions.move(client, last);
    const touched = new Map([...steps].map(([id, { after }]) => [id, after]));
    return { from: position.sequence, to: last.sequence, touched };
  }

  private async write(client: ClientBase, shard: number, steps: ReadonlyMap<string, Step>): Promise<void> {
    const all = [...steps.values()];
    const quotes = all.flatMap(({ before, after: { state } }) =>
      changedQuotes(before?.state, state).map((quote) => ({ quote, state })),
    );
    const over = all.flatMap((step) => step.over);
    const completed = all.map(({ after }) => after).filter(({ state }) => isOverForAnybody(state));
    await this.quotes.put(client, quotes);
    await this.completed.put(client, shard, completed);
    await this.completed.admit(client, shard, over);
  }

  private async fold(
    client: ClientBase,
    { ofAuctions }: JournalBatch,
    known: (auctionId: string) => FoldedAuction | undefined,
  ): Promise<Map<string, Step>> {
    const before = await this.before(client, ofAuctions, known);
    const steps = new Map<string, Step>();
    for (const { entry, event } of ofAuctions) {
      const id = event.auction_id;
      const { sequence } = entry;
      const first = before.get(id);
      const earlier = steps.get(id);
      const last = earlier?.after ?? first;
      const after = fold(last, { position: sequence, event });
      const { state } = after;
      const over = newlyOverFor(last?.state, state).map((viewer) => ({ viewer, state, sequence }));
      steps.set(id, { before: first, after, over: [...(earlier?.over ?? []), ...over] });
    }
    return steps;
  }

  private async before(
    client: ClientBase,
    events: JournalBatch['ofAuctions'],
    known: (auctionId: string) => FoldedAuction | undefined,
  ): Promise<Map<string, FoldedAuction>> {
    const opened = new Set<string>();
    const found = new Map<string, FoldedAuction>();
    const wanted = new Set<string>();
    for (const { event } of events) {
      const id = event.auction_id;
      if (event.type === 'AUCTION_OPENED') opened.add(id);
      if (opened.has(id) || found.has(id)) continue;
      const remembered = known(id);
      if (remembered === undefined) wanted.add(id);
      else found.set(id, remembered);
    }
    const read = await this.events.fold(client, [...wanted]);
    return new Map([...found, ...read]);
  }
}

function checkFollows(shard: number, position: JournalHead, [first]: readonly JournalEntry[]): void {
  if (first === undefined) return;
  if (first.sequence !== position.sequence + 1)
    throw new PositionGap(shard, position.sequence, first.sequence);
  if (first.previousHash === position.hash) return;
  throw new JournalCorrupt(shard, position.sequence, 'it is not the record that was projected');
}
