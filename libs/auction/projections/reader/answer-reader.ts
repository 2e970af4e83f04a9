import type { Pool } from 'pg';
import { replyFor } from '../../rules/told/command-reply.js';
import type { Operation } from '../../rules/events.js';
import { Batcher } from '#libs/platform/database/batcher.js';
import { type EventRow, placed, readHistory } from './timeline-reader.js';

/** A command by its caller's name for it. */
export interface AnswerScope {
  readonly account: string;
  readonly operation: Operation;
  readonly key: string;
  /** Where the command was on an auction, or was the create of one. */
  readonly auctionId?: string;
  /** Where every shard gives an answer of its own to the command. */
  readonly shard?: number;
}

/** A first answer to be given again, the content to which it was given, and where the journal has it. */
export interface ProjectedAnswer {
  readonly position: number;
  readonly content: string;
  readonly reply: { readonly status: number; readonly body: string };
}

export const BY_KEY = `
  select sequence, payload from auction_history.events where auction_id = $1 and command_key = $2 order by sequence`;

/**
 * Of creates: each made an auction, or was refused and that is kept, or nobody knows of it, as is nearly always so. An auction begins
 * with its create: what others did under the same key comes behind it.
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

/** How many creates are looked up together at most. */
const MOST_CREATES = 256;

interface StoredRow {
  readonly sequence: number;
  readonly content: string;
  readonly status: number;
  readonly body: string;
}

type CreateRow = { readonly place: number } & (EventRow | (StoredRow & { readonly payload: null }));

/** First answers: those on an auction are told anew from its history, the others are kept as they were given. */
export class AnswerReader {
  private readonly creates = new Batcher(
    (asked: readonly AnswerScope[]) => this.ofCreates(asked),
    MOST_CREATES,
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
    return this.toldBy(rows, scope);
  }

  private async ofCreates(asked: readonly AnswerScope[]): Promise<(ProjectedAnswer | undefined)[]> {
    const { rows } = await this.pool.query<CreateRow>({
      name: 'answers-of-creates',
      text: OF_CREATES,
      values: [asked.map(auctionOf), asked.map(({ account }) => account), asked.map(({ key }) => key)],
    });
    return Promise.all(
      asked.map(async (scope, index) => {
        const own = rows.filter(({ place }) => place === index + 1);
        const told = await this.toldBy(own.filter(isEvent), scope);
        const refused = own.find((row) => !isEvent(row));
        return told ?? (refused === undefined ? undefined : kept(refused));
      }),
    );
  }

  /** The command's first answer, told anew from its auction's history, where one of the events is the command's. */
  private async toldBy(
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
    return rows[0] && kept(rows[0]);
  }
}

function kept({ sequence, content, status, body }: StoredRow): ProjectedAnswer {
  return { position: sequence, content, reply: { status, body } };
}

function auctionOf({ auctionId, operation }: AnswerScope): string {
  if (auctionId === undefined) throw new Error(`a ${operation} is looked up within its auction`);
  return auctionId;
}

function isEvent(row: CreateRow): row is EventRow & { readonly place: number } {
  return row.payload !== null;
}
