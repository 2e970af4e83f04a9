import type { DomainEvent } from '../../rules/events.js';
import { replyFor } from '../../rules/told/command-reply.js';
import { decodeEvent } from '../../rules/event-versions.js';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { AuctionEntry } from './auction-book.js';
import { isSameCommand, type IdempotencyKey } from '#libs/shard/idempotency-index.js';
import type { AuctionHistories, CommandScope, PlacedAnswer, StoredAnswer } from '../ports.js';

/**
 * The first replies to commands, for repeats. Replies on an auction are derived again from its journal. Replies of the shard
 * itself are kept until they are projected.
 */
export class StoredAnswers {
  private readonly ofShard = new Map<string, PlacedAnswer>();

  constructor(
    private readonly shard: number,
    private readonly reader: JournalReader,
    private readonly histories: AuctionHistories,
  ) {}

  /** Undefined if the record at `position` belongs to another command. */
  async ofAuction(
    entry: AuctionEntry,
    position: number,
    name: IdempotencyKey,
  ): Promise<StoredAnswer | undefined> {
    return replyAtEnd(await this.eventsOf(entry, position), name);
  }

  /** The auction's events up to a position, from the journal. */
  eventsOf(entry: AuctionEntry, upTo: number): Promise<Placed<AuctionEvent>[]> {
    return this.eventsAt(entry.positions.filter((position) => position <= upTo));
  }

  /** The reply to a create whose auction was evicted. Undefined if there is none, or if another create opened it. */
  async ofForgotten(scope: CommandScope): Promise<StoredAnswer | undefined> {
    if (scope.auctionId === undefined) return undefined;
    const [first] = (await this.histories.find(scope.auctionId)) ?? [];
    return first === undefined
      ? undefined
      : replyAtEnd(await this.eventsAt([first]), idempotencyKeyOf(scope));
  }

  private async eventsAt(positions: readonly number[]): Promise<Placed<AuctionEvent>[]> {
    const records = await this.reader.entries(this.shard, positions);
    return records.map((record) => ({
      position: record.sequence,
      event: decodeEvent(record.payload) as AuctionEvent,
    }));
  }

  recent(scope: CommandScope): StoredAnswer | undefined {
    return this.ofShard.get(keyOf(scope));
  }

  /**
   * Checks a projected reply against the journal, so that a writer of projections cannot invent one. The reply is derived again
   * from the journal. A command without an auction history (a refused create, a withdrawal of all quotes) is in the record
   * itself.
   */
  async proven(kept: PlacedAnswer, scope: CommandScope): Promise<StoredAnswer | undefined> {
    const { auctionId } = scope;
    const { position, content } = kept;
    const positions = auctionId === undefined ? undefined : await this.histories.find(auctionId);
    if (positions !== undefined) {
      if (!positions.includes(position)) return undefined;
      const events = await this.eventsAt(positions.filter((earlier) => earlier <= position));
      return replyAtEnd(events, idempotencyKeyOf(scope));
    }
    const [record] = await this.reader.entries(this.shard, [position]);
    const event = record?.kind === 'event' ? decodeEvent(record.payload) : undefined;
    if (event?.command?.content !== content) return undefined;
    if (!isSameCommand(event.command, idempotencyKeyOf(scope))) return undefined;
    return { content, reply: shardReplyOf(event) ?? kept.reply };
  }

  /** The content for a snapshot. */
  get recents(): ReadonlyMap<string, PlacedAnswer> {
    return this.ofShard;
  }

  restore(answers: Iterable<readonly [string, PlacedAnswer]>): void {
    for (const [name, answer] of answers) this.ofShard.set(name, answer);
  }

  note(position: number, event: DomainEvent): void {
    if (event.command === undefined) return;
    const answer = shardReplyOf(event);
    if (answer === undefined) return;
    const { account_id: account, operation, key, content } = event.command;
    this.ofShard.set(keyOf({ account, operation, key }), { position, content, reply: answer });
  }

  forget(projectedTo: number): void {
    for (const [name, { position }] of this.ofShard) {
      if (position > projectedTo) return;
      this.ofShard.delete(name);
    }
  }
}

/** The reply to the command of the last event. Undefined if that is another command. */
function replyAtEnd(events: readonly Placed<AuctionEvent>[], name: IdempotencyKey): StoredAnswer | undefined {
  const last = events.at(-1);
  const command = last?.event.command;
  if (last === undefined || command === undefined || !isSameCommand(command, name)) return undefined;
  const { status, body } = replyFor(events, last.position);
  return { content: command.content, reply: reply(status, body) };
}

function shardReplyOf(event: DomainEvent): LinkReply | undefined {
  switch (event.type) {
    case 'CREATE_REJECTED':
      return fault(422, event.data.error, event.data.message);
    case 'ALL_WITHDRAWN':
      return reply(200, { withdrawn: event.data.withdrawn, not_withdrawable: event.data.not_withdrawable });
    default:
      return undefined;
  }
}

function idempotencyKeyOf({ account, operation, key }: CommandScope): IdempotencyKey {
  return { account_id: account, operation, key };
}

function keyOf({ account, operation, key }: CommandScope): string {
  return `${operation}/${account}/${key}`;
}
