import { describe, expect, it } from '@jest/globals';
import type { AuctionEvent } from '../rules/events.js';
import type { Route } from '../rules/terms.js';
import { decodeEvent, encodeEvent, isOfAuction } from '../rules/event-versions.js';
import type { JournalEntry } from '#libs/journal/journal.js';
import { lawfulSession } from '#libs/testing/auctions/journaled-auctions.js';
import { ByTheRules, type Rules } from './by-the-rules.js';

const SHARD = 1;
const AUCTIONS = 80;
/** How many records are forged in each way. */
const TRIED = 3;

const { records } = lawfulSession(5, AUCTIONS, SHARD);
const events = new Map<number, AuctionEvent>();
for (const { kind, payload, sequence } of records) {
  const event = kind === 'event' ? decodeEvent(payload) : undefined;
  if (event !== undefined && isOfAuction(event)) events.set(sequence, event);
}

function judged(entries: readonly JournalEntry[], shard = SHARD): Rules {
  const rules = new ByTheRules(shard);
  // One page at a time, as in a real run.
  for (let from = 0; from < entries.length; from += 100) rules.take(entries.slice(from, from + 100));
  return rules.told;
}

/** Replaces one record's content. */
function withEvent(sequence: number, event: unknown): JournalEntry[] {
  const payload = typeof event === 'string' ? event : encodeEvent(event as AuctionEvent);
  return records.map((record) => (record.sequence === sequence ? { ...record, payload } : record));
}

type Fields = Record<string, unknown>;
type Change = (data: Fields, event: Fields) => void;

function forged(sequence: number, change: Change): JournalEntry[] {
  const event = JSON.parse(encodeEvent(events.get(sequence)!)) as Fields;
  change(event.data as Fields, event);
  return withEvent(sequence, event);
}

function sequencesOf(type: AuctionEvent['type']): number[] {
  return [...events].filter(([, event]) => event.type === type).map(([sequence]) => sequence);
}

function within(value: unknown, ...path: (string | number)[]): Fields {
  return path.reduce<unknown>((fields, name) => (fields as Fields)[name], value) as Fields;
}

function grow(value: Fields, field: string, by: number): void {
  value[field] = (value[field] as number) + by;
}

/** The first route of the auction. */
function routeOf(auctionId: unknown): Fields {
  for (const event of events.values()) {
    if (event.type !== 'AUCTION_OPENED' || event.auction_id !== auctionId) continue;
    const [{ venue, contract_id: contract, outcome }] = event.data.terms.routes as [Route];
    return { venue, asset: `${contract}/${outcome}` };
  }
  throw new Error('the auction has not been opened');
}

describe('a journal that the rules have written', () => {
  it('leads to no objections, and completed auctions are dropped from memory', () => {
    const open = new Set([...events.values()].map(({ auction_id: id }) => id));
    expect(open.size).toBe(AUCTIONS);
    for (const { type, auction_id: id } of events.values()) if (type === 'AUCTION_COMPLETED') open.delete(id);
    expect(open.size).toBeLessThan(AUCTIONS / 2);
    expect(judged(records)).toEqual({ auctions: AUCTIONS, open: open.size, objections: [], found: 0 });
    const types = new Set([...events.values()].map(({ type }) => type));
    expect(types.size).toBeGreaterThan(14);
  });

  it('may have the fields that audits leave out', () => {
    const [submitted] = sequencesOf('QUOTE_SUBMITTED');
    const [opened] = sequencesOf('AUCTION_OPENED');
    const [voided] = sequencesOf('AUCTION_VOIDED');
    const [confirmed] = sequencesOf('EXECUTION_CONFIRMED');
    for (const [sequence, change] of [
      [submitted, (data) => Object.assign(data, { connection_id: 'c' })],
      [opened, (data) => Object.assign(within(data, 'terms'), { client_reference: 'mine' })],
      [voided, (data) => Object.assign(data, { operator: 'somebody' })],
      [
        confirmed,
        (data) =>
          Object.assign(data, {
            settlement: { ...routeOf(events.get(confirmed!)?.auction_id), delivered_atoms: 0 },
          }),
      ],
    ] satisfies [number | undefined, Change][]) {
      expect(judged(forged(sequence!, change)).objections).toEqual([]);
    }
  });
});

describe('a record that the rules could not have written', () => {
  it.each<[string, AuctionEvent['type'], Change]>([
    ['a different winner', 'AUCTION_AWARDED', (data) => (within(data, 'awards', 0).maker = 'somebody')],
    [
      'a winner at another price',
      'AUCTION_AWARDED',
      (data) => grow(within(data, 'awards', 0), 'price_atoms', 1),
    ],
    ['a missing winner', 'AUCTION_AWARDED', (data) => (data.awards = (data.awards as unknown[]).slice(1))],
    [
      'a winner with a smaller hold',
      'AUCTION_AWARDED',
      (data) => grow(within(data, 'awards', 0, 'maker_hold', 0), 'amount', -1),
    ],
    [
      'no winner where there is one',
      'AUCTION_AWARDED',
      (_, event) => {
        Object.assign(event, { type: 'AUCTION_NOT_AWARDED', data: { reason: 'NO_QUOTES' } });
      },
    ],
    ['a later deadline', 'AUCTION_AWARDED', (data) => (data.execution_deadline = LATER)],
    [
      'a different end',
      'AUCTION_COMPLETED',
      (data) => (data.status = data.status === 'VOIDED' ? 'CANCELLED' : 'VOIDED'),
    ],
    ['an end at another time', 'AUCTION_COMPLETED', (_, event) => (event.at = LATER)],
    ['a close at another time', 'AUCTION_CLOSED', (_, event) => (event.at = LATER)],
    [
      'a wrong flag for kept priority',
      'QUOTE_REVISED',
      (data) => (data.keeps_priority = data.keeps_priority !== true),
    ],
    ['a quote off the grid', 'QUOTE_SUBMITTED', (data) => grow(within(data, 'quote'), 'quantity_atoms', 0.5)],
    [
      'a quote without cover',
      'QUOTE_SUBMITTED',
      (data) => grow((within(data, 'quote').hold as Fields[]).at(-1)!, 'amount', -1),
    ],
    [
      'a quote of a maker that was not invited',
      'QUOTE_SUBMITTED',
      (data) => (within(data, 'quote').maker = 'x'),
    ],
    ['a different audience', 'AUCTION_OPENED', (data) => (within(data, 'terms').audience = [])],
    ['an unknown field', 'AUCTION_CLOSED', (data) => (data.note = 'a note')],
    ['an award that was never made', 'EXECUTION_CONFIRMED', (data) => (data.award_id = 'x')],
    [
      'a settlement by another route',
      'EXECUTION_CONFIRMED',
      (data) => (data.settlement = { venue: 'nowhere', asset: 'rain/YES', delivered_atoms: 0 }),
    ],
    [
      'a settlement that delivers more than was awarded',
      'EXECUTION_CONFIRMED',
      (data, { auction_id: id }) => (data.settlement = { ...routeOf(id), delivered_atoms: 1e15 }),
    ],
    ['a wrong type', 'AUCTION_CLOSED', (_, event) => (event.type = 'AUCTION_SHUT')],
  ])('is reported with sequence and auction: %s', (_what, type, change) => {
    const sequences = sequencesOf(type).slice(0, TRIED);
    expect(sequences.length).toBeGreaterThan(0);
    for (const sequence of sequences) {
      const { objections, found } = judged(forged(sequence, change));
      expect(objections[0]).toMatchObject({ sequence });
      const ofAuction = events.get(sequence)?.auction_id;
      // No other auction is reported.
      for (const { auction_id: id = ofAuction } of objections) expect(id).toBe(ofAuction);
      expect(found).toBe(objections.length);
    }
  });

  it.each<[string, (records: JournalEntry[], at: number) => JournalEntry[], string]>([
    [
      'follows the end of its auction',
      (all, at) => [...all, { ...all[at]!, sequence: LAST }],
      'the auction is over',
    ],
    ['opens an auction for the second time', (all) => [...all, reopening(all)], 'the auction is over'],
  ])('is found if it %s', (_, add, what) => {
    const [end] = sequencesOf('AUCTION_COMPLETED');
    const { objections } = judged(add([...records], end! - 1));
    expect(objections).toMatchObject([{ sequence: LAST, auction_id: events.get(end!)?.auction_id, what }]);
  });

  it('is found if it belongs to another shard', () => {
    const { objections, found } = judged(records, SHARD + 1);
    expect(found).toBe(events.size);
    expect(objections.length).toBeLessThan(found);
    expect(objections[0]?.what).toBe('it belongs to another shard');
  });

  it('is found if it cannot be read', () => {
    expect(judged(withEvent(7, '{"type":'))).toMatchObject({
      objections: expect.arrayContaining([expect.objectContaining({ sequence: 7, auction_id: undefined })]),
    });
  });
});

const LATER = '2031-01-01T00:00:00.000000000Z';
const LAST = records.length + 1;

/** Opens the auction again that was the first to end. */
function reopening(all: readonly JournalEntry[]): JournalEntry {
  const [end] = sequencesOf('AUCTION_COMPLETED');
  const id = events.get(end!)?.auction_id;
  const opened = sequencesOf('AUCTION_OPENED').find((sequence) => events.get(sequence)?.auction_id === id);
  return { ...all[opened! - 1]!, sequence: LAST };
}
