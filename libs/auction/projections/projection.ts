import type { ClientBase } from 'pg';
import { OffsetsTable } from '#libs/projecting/offsets.js';
import type {
  JournalBatch,
  Projection,
  ProjectionWriter,
  Recall,
  SchemaOf,
} from '#libs/projecting/projection.js';
import { changedQuotes, fold, isOverForAnybody, newlyOverFor, type FoldedAuction } from './folded-auction.js';
import { decodeBatch, type DecodedBatch } from './decoded-batch.js';
import { AnswersTable } from './tables/answers.js';
import { CompletedTables, type OverFor } from './tables/completed-auctions.js';
import { EventsTable } from './tables/events.js';
import { QuotesTable } from './tables/quotes.js';

/** The first digit of an auction's id is that of its shard. */
const DIGIT_OF_AUCTION = 'left(auction_id::text, 1)::smallint';
const REMEMBERED_AUCTIONS = 20_000;

/** Completed auctions, and the histories of all auctions. Readers query viewers before auctions. */
export const auctionProjection: Projection<FoldedAuction> = {
  name: 'auction',
  family: 'auction',
  offsets: { schema: 'auction_history', name: 'projection_offsets' },
  tables: [
    {
      schema: 'completed',
      name: 'viewers',
      key: ['viewer_id', 'opened_at', 'auction_id'],
      shard: DIGIT_OF_AUCTION,
    },
    { schema: 'completed', name: 'auctions', key: ['auction_id'], shard: 'shard' },
    { schema: 'auction_history', name: 'events', key: ['auction_id', 'sequence'], shard: 'shard' },
    { schema: 'auction_history', name: 'quotes', key: ['quote_id'], shard: DIGIT_OF_AUCTION },
    {
      schema: 'auction_history',
      name: 'answers',
      key: ['account_id', 'operation', 'key', 'shard'],
      shard: 'shard',
      expires: 'expires_at',
    },
  ],
  capacity: REMEMBERED_AUCTIONS,
  writer: (schemaOf) => new AuctionProjectionWriter(schemaOf),
};

export const auctionOffsets = new OffsetsTable(auctionProjection);

interface Step {
  readonly before: FoldedAuction | undefined;
  readonly after: FoldedAuction;
  /** The parties for whom it became over between the two. */
  readonly over: readonly OverFor[];
}

class AuctionProjectionWriter implements ProjectionWriter<FoldedAuction> {
  private readonly events: EventsTable;
  private readonly quotes: QuotesTable;
  private readonly completed: CompletedTables;
  private readonly answers: AnswersTable;

  constructor(schemaOf: SchemaOf) {
    this.events = new EventsTable(schemaOf);
    this.quotes = new QuotesTable(schemaOf);
    this.completed = new CompletedTables(schemaOf);
    this.answers = new AnswersTable(schemaOf);
  }

  /** Live auctions are kept for the next batch. */
  async apply(
    client: ClientBase,
    { shard, entries }: JournalBatch,
    recall: Recall<FoldedAuction>,
  ): Promise<ReadonlyMap<string, FoldedAuction | undefined>> {
    const batch = decodeBatch(entries);
    const steps = await this.fold(client, batch, recall);
    await this.events.insert(client, shard, batch.ofAuctions);
    await this.write(client, shard, steps);
    await this.answers.put(client, shard, batch.ofShard);
    return new Map([...steps].map(([id, { after }]) => [id, isLive(after) ? after : undefined]));
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
    { ofAuctions }: DecodedBatch,
    recall: Recall<FoldedAuction>,
  ): Promise<Map<string, Step>> {
    const before = await this.before(client, ofAuctions, recall);
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
    events: DecodedBatch['ofAuctions'],
    recall: Recall<FoldedAuction>,
  ): Promise<Map<string, FoldedAuction>> {
    const opened = new Set<string>();
    const found = new Map<string, FoldedAuction>();
    const wanted = new Set<string>();
    for (const { event } of events) {
      const id = event.auction_id;
      if (event.type === 'AUCTION_OPENED') opened.add(id);
      if (opened.has(id) || found.has(id)) continue;
      const remembered = recall(id);
      if (remembered === undefined) wanted.add(id);
      else found.set(id, remembered);
    }
    const read = await this.events.fold(client, [...wanted]);
    return new Map([...found, ...read]);
  }
}

function isLive({ state }: FoldedAuction): boolean {
  return state.completed_at === undefined;
}
