import type { DomainEvent } from '../../rules/events.js';
import { replyFor } from '../../rules/told/command-reply.js';
import { decodeEvent } from '../../rules/event-versions.js';
import type { AuctionEvent, Placed } from '../../rules/events.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { fault, reply, type LinkReply } from '#libs/link/link-protocol.js';
import type { AuctionEntry } from './auction-book.js';
import { isSameCommand, type IdempotencyKey } from '#libs/shard/idempotency-index.js';
import type { AuctionHistories, CommandScope, PlacedAnswer, StoredAnswer } from '../ports.js';

/** First answers, given again: those on an auction are told anew from its journal, those of the shard are kept until the projections have them. */
export class StoredAnswers {
  private readonly ofShard = new Map<string, PlacedAnswer>();

  constructor(
    private readonly shard: number,
    private readonly reader: JournalReader,
    private readonly histories: AuctionHistories,
  ) {}

  /** Undefined where the record at `position` answers another command. */
  async ofAuction(
    entry: AuctionEntry,
    position: number,
    name: IdempotencyKey,
  ): Promise<StoredAnswer | undefined> {
    return toldBy(await this.eventsOf(entry, position), name);
  }

  /** The auction's history up to `position`, as the journal has it. */
  eventsOf(entry: AuctionEntry, upTo: number): Promise<Placed<AuctionEvent>[]> {
    return this.eventsAt(entry.positions.filter((position) => position <= upTo));
  }

  /** The answer to a create whose auction the shard has forgotten. Undefined where it knows of none, or of one that another create has made. */
  async ofForgotten(scope: CommandScope): Promise<StoredAnswer | undefined> {
    if (scope.auctionId === undefined) return undefined;
    const [first] = (await this.histories.find(scope.auctionId)) ?? [];
    return first === undefined ? undefined : toldBy(await this.eventsAt([first]), nameOf(scope));
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
   * What the projections say was answered, where the journal has that command at that place: whoever may write projections could else have
   * people told that something was done which nobody has ever done. What was answered is told anew from the journal; of what is in no
   * history (a refused create, a withdrawal of everything) the record itself says it.
   */
  async proven(kept: PlacedAnswer, scope: CommandScope): Promise<StoredAnswer | undefined> {
    const { auctionId } = scope;
    const { position, content } = kept;
    const positions = auctionId === undefined ? undefined : await this.histories.find(auctionId);
    if (positions !== undefined) {
      if (!positions.includes(position)) return undefined;
      const events = await this.eventsAt(positions.filter((place) => place <= position));
      return toldBy(events, nameOf(scope));
    }
    const [record] = await this.reader.entries(this.shard, [position]);
    const event = record?.kind === 'event' ? decodeEvent(record.payload) : undefined;
    if (event?.command?.content !== content) return undefined;
    if (!isSameCommand(event.command, nameOf(scope))) return undefined;
    return { content, reply: answerOf(event) ?? kept.reply };
  }

  /** What a snapshot must hold. */
  get recents(): ReadonlyMap<string, PlacedAnswer> {
    return this.ofShard;
  }

  restore(answers: Iterable<readonly [string, PlacedAnswer]>): void {
    for (const [name, answer] of answers) this.ofShard.set(name, answer);
  }

  note(position: number, event: DomainEvent): void {
    if (event.command === undefined) return;
    const answer = answerOf(event);
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

/** What the command of the last event was answered; undefined where that is another command. */
function toldBy(events: readonly Placed<AuctionEvent>[], name: IdempotencyKey): StoredAnswer | undefined {
  const last = events.at(-1);
  const command = last?.event.command;
  if (last === undefined || command === undefined || !isSameCommand(command, name)) return undefined;
  const { status, body } = replyFor(events, last.position);
  return { content: command.content, reply: reply(status, body) };
}

function answerOf(event: DomainEvent): LinkReply | undefined {
  switch (event.type) {
    case 'CREATE_REJECTED':
      return fault(422, event.data.error, event.data.message);
    case 'ALL_WITHDRAWN':
      return reply(200, { withdrawn: event.data.withdrawn, not_withdrawable: event.data.not_withdrawable });
    default:
      return undefined;
  }
}

function nameOf({ account, operation, key }: CommandScope): IdempotencyKey {
  return { account_id: account, operation, key };
}

function keyOf({ account, operation, key }: CommandScope): string {
  return `${operation}/${account}/${key}`;
}
