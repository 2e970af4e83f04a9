import type { DomainEvent } from '#libs/auction/events.js';
import { replyFor } from '#libs/auction/command-reply.js';
import { decodeEvent } from '#libs/auction/upcasters.js';
import type { AuctionEvent, Placed } from '#libs/auction/events.js';
import type { JournalReader } from '#libs/journal/journal.js';
import { fault, reply, type LinkReply } from '#libs/owner-link/protocol.js';
import type { Entry } from './auction-book.js';
import { isSameCommand, type CommandName } from './marks.js';
import type { CommandScope, StoredAnswer } from './ports.js';

export interface RecentAnswer extends StoredAnswer {
  readonly position: number;
}

/** First answers, given again: those on an auction are told anew from its journal, those of the shard are kept until the projections have them. */
export class StoredAnswers {
  private readonly ofShard = new Map<string, RecentAnswer>();

  constructor(
    private readonly shard: number,
    private readonly reader: JournalReader,
  ) {}

  /** Undefined where the record at `position` answers another command. */
  async ofAuction(entry: Entry, position: number, name: CommandName): Promise<StoredAnswer | undefined> {
    const events = await this.eventsOf(entry, position);
    const command = events.at(-1)?.event.command;
    if (command === undefined || !isSameCommand(command, name)) return undefined;
    const { status, body } = replyFor(events, position);
    return { content: command.content, reply: reply(status, body) };
  }

  /** The auction's history up to `position`, as the journal has it. */
  async eventsOf(entry: Entry, upTo: number): Promise<Placed<AuctionEvent>[]> {
    const positions = entry.positions.filter((position) => position <= upTo);
    const records = await this.reader.entries(this.shard, positions);
    return records.map((record) => ({
      position: record.sequence,
      event: decodeEvent(record.payload) as AuctionEvent,
    }));
  }

  recent(scope: CommandScope): StoredAnswer | undefined {
    return this.ofShard.get(nameOf(scope));
  }

  /** What a snapshot must hold. */
  get recents(): ReadonlyMap<string, RecentAnswer> {
    return this.ofShard;
  }

  restore(answers: Iterable<readonly [string, RecentAnswer]>): void {
    for (const [name, answer] of answers) this.ofShard.set(name, answer);
  }

  note(position: number, event: DomainEvent): void {
    if (event.command === undefined) return;
    const answer = answerOf(event);
    if (answer === undefined) return;
    const { account_id: account, operation, key, content } = event.command;
    this.ofShard.set(nameOf({ account, operation, key }), { position, content, reply: answer });
  }

  forget(projectedTo: number): void {
    for (const [name, { position }] of this.ofShard) {
      if (position > projectedTo) return;
      this.ofShard.delete(name);
    }
  }
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

function nameOf({ account, operation, key }: CommandScope): string {
  return `${operation}/${account}/${key}`;
}
