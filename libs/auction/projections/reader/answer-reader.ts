import type { Pool } from 'pg';
import { replyFor } from '../../rules/told/command-reply.js';
import type { Operation } from '../../rules/events.js';
import { Batcher } from '#libs/platform/database/batcher.js';
import { type EventRow, placed, readHistory } from './timeline-reader.js';

/** A command, identified by its caller and idempotency key. */
export interface AnswerScope {
  readonly account: string;
  readonly operation: Operation;
  readonly key: string;
  /** Present for a command on an auction, and for the create of one. */
  readonly auctionId?: string;
  /** Present where every shard gives its own reply. */
  readonly shard?: number;
}

/** A first reply for repeats, with the content of its command and its journal position. */
export interface ProjectedAnswer {
  readonly position: number;
  readonly content: string;
  readonly reply: { readonly status: number; readonly body: string };
}

export const BY_KEY = `
  select sequence, payload from auction_history.events where auction_id = $1 and command_key = $2 order by sequence`;

/**
 * For creates. Each opened an auction, or has a stored refusal, or is unknown, as nearly all are. An auction begins with its
 * create, so commands of others with the same key come after it.
 */
export const OF_CREATES = `
  with asked as (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[]) with ordinality as asked (auction_id, account_id, key, place)
  )
  select asked.place, made.sequence, made.payload, null as content, null::smallint as status, null as body
  from asked cross join lateral (
    select sequence, payload from auction_history.events
    where auction_id = asked.auction_id and command_key = asked.key order by sequence limit 1
  ) made
  union all
  select asked.place, refused.sequence, null, refused.content, refused.status, refused.body
  from asked cross join lateral (
    select sequence, content, status, body from auction_history.answers
    where account_id = asked.account_id and operation = 'CREATE' and key = asked.key limit 1
  ) refused
  order by place, sequence`;

export const OF_SHARD = `
  select sequence, content, status, body from auction_history.answers
  where account_id = $1 and operation = $2 and key = $3 and shard = $4`;

/** How many creates are looked up in one statement at most. */
const MAX_CREATES = 256;

interface StoredRow {
  readonly sequence: number;
  readonly content: string;
  readonly status: number;
  readonly body: string;
}

type CreateRow = { readonly place: number } & (EventRow | (StoredRow & { readonly payload: null }));

/** First replies. Those on an auction are derived again from its history, the others are stored. */
export class AnswerReader {
  private readonly creates = new Batcher(
    (scopes: readonly AnswerScope[]) => this.ofCreates(scopes),
    MAX_CREATES,
  );

  constructor(private readonly pool: Pool) {}

  async find(scope: AnswerScope): Promise<ProjectedAnswer | undefined> {
    if (scope.operation === 'WITHDRAW_ALL') return this.ofShard(scope);
    const auctionId = auctionOf(scope);
    if (scope.operation === 'CREATE') return this.creates.answer(scope);
    const { rows } = await this.pool.query<EventRow>({
      name: 'answer-by-key',
      text: BY_KEY,
      values: [auctionId, scope.key],
    });
    return this.derivedReply(rows, scope);
  }

  private async ofCreates(scopes: readonly AnswerScope[]): Promise<(ProjectedAnswer | undefined)[]> {
    const { rows } = await this.pool.query<CreateRow>({
      name: 'answers-of-creates',
      text: OF_CREATES,
      values: [scopes.map(auctionOf), scopes.map(({ account }) => account), scopes.map(({ key }) => key)],
    });
    return Promise.all(
      scopes.map(async (scope, index) => {
        const own = rows.filter(({ place }) => place === index + 1);
        const derived = await this.derivedReply(own.filter(isEvent), scope);
        const refused = own.find((row) => !isEvent(row));
        return derived ?? (refused === undefined ? undefined : storedReply(refused));
      }),
    );
  }

  /** The command's first reply, derived from the auction's history, if one of the events is the command's. */
  private async derivedReply(
    events: readonly EventRow[],
    scope: AnswerScope,
  ): Promise<ProjectedAnswer | undefined> {
    for (const row of events) {
      const { command } = placed(row).event;
      if (command?.account_id !== scope.account || command.operation !== scope.operation) continue;
      const { status, body } = replyFor(
        await readHistory(this.pool, auctionOf(scope), row.sequence),
        row.sequence,
      );
      return {
        position: row.sequence,
        content: command.content,
        reply: { status, body: JSON.stringify(body) },
      };
    }
    return undefined;
  }

  private async ofShard({
    account,
    operation,
    key,
    shard,
  }: AnswerScope): Promise<ProjectedAnswer | undefined> {
    if (shard === undefined) throw new Error(`a ${operation} is looked up within its shard`);
    const { rows } = await this.pool.query<StoredRow>({
      name: 'answer-of-shard',
      text: OF_SHARD,
      values: [account, operation, key, shard],
    });
    return rows[0] && storedReply(rows[0]);
  }
}

function storedReply({ sequence, content, status, body }: StoredRow): ProjectedAnswer {
  return { position: sequence, content, reply: { status, body } };
}

function auctionOf({ auctionId, operation }: AnswerScope): string {
  if (auctionId === undefined) throw new Error(`a ${operation} is looked up within its auction`);
  return auctionId;
}

function isEvent(row: CreateRow): row is EventRow & { readonly place: number } {
  return row.payload !== null;
}
