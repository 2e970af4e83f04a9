import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type {
  AuctionEvent,
  CommandMark,
  DomainEvent,
  Operation,
  Placed,
  ShardEvent,
} from '#libs/auction/rules/events.js';
import { plusMillis } from '#libs/base/instant.js';
import { encodeEvent } from '#libs/auction/rules/event-versions.js';
import { beforeFirst, linkEpoch, linkEvent } from '#libs/journal/hash-chain.js';
import type { JournalEntry, JournalReader } from '#libs/journal/journal.js';
import { OPENED_AT } from './story.js';
import { play } from './play.js';
import { anySession } from './sessions.js';
import { anyTale, tell } from './tales.js';

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:]+\.\d{9}Z$/;
const EPOCH = 1;
const SHARD_EVENT_EVERY = 10;

/** The same name always gives the same id. It begins with the digit of the shard. */
export function uuidNamed(name: string, shard = 0): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${shard}${hex.slice(1, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * A story's events as real parties would cause them: ids are UUIDs, every command has a key, and all times are `laterMs` later.
 */
export function realistic(
  events: readonly Placed<AuctionEvent>[],
  name: string,
  shard: number,
  laterMs: number,
): AuctionEvent[] {
  const auctionId = uuidNamed(name, shard);
  return events.map(({ event }, index) => {
    const text = JSON.stringify(event, (field, value: unknown) => {
      if (typeof value !== 'string') return value;
      if (field === 'auction_id') return auctionId;
      if (field === 'quote_id') return uuidNamed(`${name}/${value}`, shard);
      if (field === 'account_id' || field === 'maker') return uuidNamed(value);
      return INSTANT.test(value) ? plusMillis(value, laterMs) : value;
    });
    const real = JSON.parse(text) as AuctionEvent;
    const command = commandOf(real, `key-${index}`);
    return command === undefined ? real : { ...real, command };
  });
}

const OPERATIONS: Partial<Record<AuctionEvent['type'], Operation>> = {
  QUOTE_SUBMITTED: 'SUBMIT',
  QUOTE_REVISED: 'REVISE',
  QUOTE_REJECTED: 'SUBMIT',
};

function commandOf(event: AuctionEvent, key: string): CommandMark | undefined {
  if (event.type === 'AUCTION_OPENED') {
    const { account_id } = event.data.terms.originator;
    return { account_id, operation: 'CREATE', key, content: `content-of-${key}` };
  }
  const operation = OPERATIONS[event.type];
  const maker =
    event.type === 'QUOTE_SUBMITTED' || event.type === 'QUOTE_REVISED'
      ? event.data.quote.maker
      : event.type === 'QUOTE_REJECTED'
        ? event.data.maker
        : undefined;
  if (operation === undefined || maker === undefined) return undefined;
  return { account_id: maker, operation, key, content: `content-of-${key}` };
}

/** The journal of one shard, in memory and without a store. */
export class WrittenJournal implements JournalReader {
  readonly records: JournalEntry[];

  constructor(readonly shard: number) {
    this.records = [linkEpoch(shard, beforeFirst('auction'), EPOCH, 'test')];
  }

  write(event: DomainEvent): JournalEntry {
    const record = linkEvent(this.shard, this.records.at(-1) ?? beforeFirst('auction'), encodeEvent(event));
    this.records.push(record);
    return record;
  }

  read(shard: number, fromSequence: number, limit: number): Promise<JournalEntry[]> {
    return Promise.resolve(
      shard === this.shard ? this.records.slice(fromSequence - 1, fromSequence - 1 + limit) : [],
    );
  }

  entries(_shard: number, sequences: readonly number[]): Promise<JournalEntry[]> {
    return Promise.resolve(
      sequences.map((sequence) => {
        const record = this.records[sequence - 1];
        if (record === undefined) throw new Error(`no record ${sequence}`);
        return record;
      }),
    );
  }

  heads(): Promise<Map<number, number>> {
    return Promise.resolve(new Map([[this.shard, this.records.length]]));
  }
}

/** Random auctions of one shard: the events of each auction in order, those of different auctions interleaved. */
export function randomSession(seed: number, auctions: number, shard = 0): WrittenJournal {
  const tales = fc.sample(anyTale, { seed, numRuns: auctions });
  const waiting = tales.map((tale, index) => {
    const everyThirdAtOnce = index - (index % 3);
    return realistic(
      tell(tale, () => true).events,
      `auction-${shard}-${index}`,
      shard,
      everyThirdAtOnce * 1_000,
    );
  });
  return interleaved(waiting, seed, shard);
}

/** The same for auctions that the rules have decided, with holds. */
export function lawfulSession(seed: number, auctions: number, shard = 0): WrittenJournal {
  const sessions = fc.sample(anySession, { seed, numRuns: auctions });
  const waiting = sessions.map((session, index) => {
    const name = `lawful-${shard}-${index}`;
    const events = realistic(play(session).events, name, shard, (index - (index % 3)) * 1_000);
    const text = JSON.stringify(events).replaceAll(/"award-of-[\w-]+"/g, (award) => {
      return JSON.stringify(uuidNamed(`${name}/${award}`, shard));
    });
    return JSON.parse(text) as AuctionEvent[];
  });
  return interleaved(waiting, seed, shard);
}

function interleaved(waiting: readonly AuctionEvent[][], seed: number, shard: number): WrittenJournal {
  const journal = new WrittenJournal(shard);
  const length = waiting.reduce((sum, events) => sum + events.length, 0);
  for (const [index, turn] of fc.sample(fc.nat(), { seed, numRuns: length }).entries()) {
    const open = waiting.filter((events) => events.length > 0);
    const event = open[turn % open.length]?.shift();
    if (event !== undefined) journal.write(event);
    if (index % SHARD_EVENT_EVERY === 0) journal.write(shardEvent(index, shard));
    if (index % SHARD_EVENT_EVERY === 1) journal.write(connectionNoted(index));
  }
  return journal;
}

/** An event of no auction and no command, which no projection shows. */
function connectionNoted(index: number): ShardEvent {
  const data = {
    connection_id: uuidNamed(`connection-${index}`),
    account_id: uuidNamed('mia'),
    grace_ms: 500,
  };
  return { type: 'CONNECTION_NOTED', version: 1, at: plusMillis(OPENED_AT, index), data };
}

/**
 * An event of no auction: a refused create or a withdrawal of all quotes, sometimes with an idempotency key that was used before.
 */
function shardEvent(index: number, shard: number): ShardEvent {
  const account = uuidNamed('mia');
  const key = `shard-key-${index % (3 * SHARD_EVENT_EVERY)}`;
  const stamp = { version: 1, at: plusMillis(OPENED_AT, index) };
  const mark = (operation: Operation): CommandMark => ({
    account_id: account,
    operation,
    key,
    content: `content-${index}`,
  });
  if (index % (2 * SHARD_EVENT_EVERY) === 0) {
    const data = {
      auction_id: uuidNamed(key, shard),
      account_id: account,
      error: 'NO_RECIPIENTS',
      message: 'Nobody.',
    };
    return { type: 'CREATE_REJECTED', ...stamp, command: mark('CREATE'), data };
  }
  const data = { account_id: account, withdrawn: [uuidNamed(`quote-${index}`, shard)], not_withdrawable: [] };
  return { type: 'ALL_WITHDRAWN', ...stamp, command: mark('WITHDRAW_ALL'), data };
}
