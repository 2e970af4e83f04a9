import type { Pool } from 'pg';
import { replyFor } from '#libs/auction/command-reply.js';
import type { Operation } from '#libs/auction/events.js';
import { placed, readHistory, type EventRow } from './history-reader.js';

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

/** A first answer to be given again, and the content to which it was given. */
export interface KeptAnswer {
  readonly content: string;
  readonly reply: { readonly status: number; readonly body: string };
}

export const BY_KEY = `
  select sequence, payload from execution.events where auction_id = $1 and command_key = $2 order by sequence`;

export const OF_CREATE = `
  select content, status, body from execution.answers
  where account_id = $1 and operation = $2 and key = $3`;

export const OF_SHARD = `${OF_CREATE} and shard = $4`;

interface StoredRow {
  readonly content: string;
  readonly status: number;
  readonly body: string;
}

/** First answers: those on an auction are told anew from its history, the others are kept as they were given. */
export class AnswerReader {
  constructor(private readonly pool: Pool) {}

  async find(scope: AnswerScope): Promise<KeptAnswer | undefined> {
    if (scope.operation === 'WITHDRAW_ALL') return this.ofShard(scope);
    if (scope.auctionId === undefined)
      throw new Error(`a ${scope.operation} is looked up within its auction`);
    const told = await this.ofAuction(scope, scope.auctionId);
    return told ?? (scope.operation === 'CREATE' ? this.ofCreate(scope) : undefined);
  }

  private async ofAuction(
    { account, operation, key }: AnswerScope,
    id: string,
  ): Promise<KeptAnswer | undefined> {
    const { rows } = await this.pool.query<EventRow>({
      name: 'answer-by-key',
      text: BY_KEY,
      values: [id, key],
    });
    for (const row of rows) {
      const { command } = placed(row).event;
      if (command?.account_id !== account || command.operation !== operation) continue;
      const { status, body } = replyFor(await readHistory(this.pool, id, row.sequence), row.sequence);
      return { content: command.content, reply: { status, body: JSON.stringify(body) } };
    }
    return undefined;
  }

  private async ofCreate({ account, operation, key }: AnswerScope): Promise<KeptAnswer | undefined> {
    const { rows } = await this.pool.query<StoredRow>({
      name: 'answer-of-create',
      text: OF_CREATE,
      values: [account, operation, key],
    });
    return rows[0] && kept(rows[0]);
  }

  private async ofShard({ account, operation, key, shard }: AnswerScope): Promise<KeptAnswer | undefined> {
    if (shard === undefined) throw new Error(`a ${operation} is looked up within its shard`);
    const { rows } = await this.pool.query<StoredRow>({
      name: 'answer-of-shard',
      text: OF_SHARD,
      values: [account, operation, key, shard],
    });
    return rows[0] && kept(rows[0]);
  }
}

function kept({ content, status, body }: StoredRow): KeptAnswer {
  return { content, reply: { status, body } };
}
