import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { inAnySession, type Played } from '#libs/testing/auctions/play.js';
import { auditView } from '../audit/audit.js';
import { replay } from './replay.js';
import type { ReplayBundle, ReplayRecord } from './bundle.js';
import { alterations } from './integrity.js';
import { sealedRecords, signedFrame } from './seal.js';
import { isLive } from '../state.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const signer = { keyId: 'k', publicKey: 'p', sign: (text: string) => sha256(text) };

function bundleOf({ events, end }: Played): ReplayBundle {
  const chained = events.map((placed) => ({ ...placed, hash: sha256(`${placed.position}`) }));
  const played = auditView(end, chained, (account) => partyNamed(account));
  const view = JSON.parse(withIds(JSON.stringify(played))) as typeof played;
  const records = [...sealedRecords(view, () => ({ shard: 0, epoch: 1 }), sha256)];
  const bundle = { ...signedFrame(view, records.at(-1)!.digest, signer), records };
  return JSON.parse(JSON.stringify(bundle)) as ReplayBundle;
}

/** A pseudonym as auditors see it. */
function partyNamed(name: string): string {
  const letters = [...Buffer.from(sha256(name), 'hex').subarray(0, 16)];
  return `P-${letters.map((byte) => 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'.charAt(byte % 32)).join('')}`;
}

/** Replaces the short ids of the sessions with ids in the owner's form. */
function withIds(text: string): string {
  return text.replaceAll(/"(award-of-)?quote-(\d+)"/g, (_, award: string | undefined, position: string) => {
    const last = position.padStart(12, '0');
    return `"0${award === undefined ? 'c' : 'a'}000000-0000-8000-8000-${last}"`;
  });
}

/** A bundle forged by someone who knows how records are linked. */
function relinked(bundle: ReplayBundle, change: (records: ReplayRecord[]) => ReplayRecord[]): ReplayBundle {
  const events = change(structuredClone([...bundle.records]));
  const opened = events[0]!.data.terms as ReplayBundle['terms'];
  const view = { ...bundle, terms: opened, events };
  const places = events[Symbol.iterator]();
  const locationOf = (): { shard: number; epoch: number } => {
    const { shard, epoch } = places.next().value!;
    return { shard, epoch };
  };
  const records = [...sealedRecords(view, locationOf, sha256)];
  return { ...signedFrame(view, records.at(-1)!.digest, signer), records };
}

describe('a replay', () => {
  it('finds nothing in what the rules decided, for any session', () => {
    const ends = new Set<string>();
    inAnySession((played) => {
      if (isLive(played.end.status)) return;
      const bundle = bundleOf(played);
      expect(alterations(bundle, sha256)).toEqual([]);
      const { findings, ranking } = replay(bundle);
      expect(findings).toEqual([]);
      expect(ranking).toEqual(bundle.ranking);
      ends.add(played.end.status);
    }, 600);
    expect(ends.size).toBeGreaterThan(3);
  });

  it('reports a bundle that does not end with the completion', () => {
    inAnySession((played) => {
      if (isLive(played.end.status)) return;
      const cut = relinked(bundleOf(played), (records) => records.slice(0, -1));
      expect(replay(cut).findings.map(({ what }) => what)).toContain('the auction does not end here');
    }, 100);
  });
});

describe('a forger who links the records again', () => {
  const bundles: ReplayBundle[] = [];

  beforeAll(() => {
    inAnySession((played) => {
      if (!isLive(played.end.status)) bundles.push(bundleOf(played));
    }, 300);
  });

  it.each<[string, string, (record: ReplayRecord) => void]>([
    ['improves a quote', 'QUOTE_SUBMITTED', ({ data }) => grow(data.quote, 'quantity_atoms', 1)],
    [
      'gives a winner another price',
      'AUCTION_AWARDED',
      ({ data }) => grow(first(data.awards), 'price_atoms', 1),
    ],
    ['lets a revision keep its priority', 'QUOTE_REVISED', (record) => flip(record)],
    ['adds a quote of a maker who was not invited', 'QUOTE_SUBMITTED', ({ data }) => rename(data.quote)],
    ['closes at another time', 'AUCTION_CLOSED', (record) => later(record)],
    ['moves a quote after the close', 'QUOTE_SUBMITTED', (record) => later(record)],
    [
      'changes the quantity of the auction',
      'AUCTION_OPENED',
      ({ data }) => grow(data.terms, 'quantity_atoms', 1),
    ],
    ['changes the final status', 'AUCTION_COMPLETED', (record) => ends(record)],
    [
      'reports on an award that was never made',
      'EXECUTION_CONFIRMED',
      ({ data }) => rename(data, 'award_id'),
    ],
    ['reduces a hold', 'QUOTE_SUBMITTED', ({ data }) => grow(last(fieldOf(data.quote).hold), 'amount', -1)],
    ['moves a quote before the opening', 'QUOTE_SUBMITTED', (record) => happens(record, LONG_AGO)],
    ['moves a revision before its quote', 'QUOTE_REVISED', (record) => happens(record, LONG_AGO)],
    [
      'moves a confirmation before the submission',
      'EXECUTION_CONFIRMED',
      (record) => happens(record, LONG_AGO),
    ],
    [
      'moves the completion before the last report',
      'AUCTION_COMPLETED',
      (record) => happens(record, LONG_AGO),
    ],
    ['writes a time in another form', 'QUOTE_SUBMITTED', (record) => happens(record, '2026-11-20')],
    ['writes a day that does not exist', 'QUOTE_SUBMITTED', (record) => happens(record, NO_SUCH_DAY)],
    ['gives a quote an id of another shard', 'QUOTE_SUBMITTED', ({ data }) => moves(data.quote, 'quote_id')],
    ['gives an award an id of another shard', 'AUCTION_AWARDED', ({ data }) => moves(first(data.awards))],
    [
      'gives an award the id of its quote',
      'AUCTION_AWARDED',
      ({ data }) => set(first(data.awards), 'award_id', first(data.awards).quote_id),
    ],
    [
      'invites a party by its real name',
      'AUCTION_OPENED',
      ({ data }) => set(data.terms, 'audience', ['Jane Street']),
    ],
    ['gives a quote an invalid id', 'QUOTE_SUBMITTED', ({ data }) => rename(data.quote, 'quote_id')],
    ['invites the originator', 'AUCTION_OPENED', ({ data }) => invites(data.terms, 'originator')],
    ['invites a maker twice', 'AUCTION_OPENED', ({ data }) => invites(data.terms)],
    ['invites no maker', 'AUCTION_OPENED', ({ data }) => set(data.terms, 'audience', [])],
    ['invites too many makers', 'AUCTION_OPENED', ({ data }) => set(data.terms, 'audience', crowd(65))],
    ['invents a side', 'AUCTION_OPENED', ({ data }) => set(data.terms, 'side', 'LALA')],
    ['invents a disclosure', 'AUCTION_OPENED', ({ data }) => set(data.terms, 'result_disclosure', 'LALA')],
    [
      'names a route by a number',
      'AUCTION_OPENED',
      ({ data }) => set(first(fieldOf(data.terms).routes), 'title', 7),
    ],
    ['invents an error', 'QUOTE_REJECTED', ({ data }) => set(data, 'error', 'LALA')],
    ['invents an operation', 'QUOTE_REJECTED', ({ data }) => set(data, 'operation', 'LALA')],
    [
      'refuses with an error that is not journaled',
      'QUOTE_REJECTED',
      ({ data }) => set(data, 'error', 'COMMAND_EXPIRED'),
    ],
    [
      'refuses a quote with an error of creates',
      'QUOTE_REJECTED',
      ({ data }) => set(data, 'error', 'AUDIENCE_EMPTY'),
    ],
    [
      // With AUCTION_NOT_OPEN the refusal would follow the rules, and only the next record would break them.
      'moves a refusal after the close',
      'QUOTE_REJECTED',
      (record) => {
        set(record.data, 'error', 'INVALID_TERMS');
        later(record);
      },
    ],
    [
      'claims that the auction was closed, or was open',
      'QUOTE_REJECTED',
      ({ data }) => turns(data, 'AUCTION_NOT_OPEN', 'INVALID_TERMS'),
    ],
    ['lets an unknown party withdraw', 'QUOTE_WITHDRAWN', ({ data }) => set(data, 'by', 'LALA')],
    ['lets an operator cancel', 'AUCTION_CANCELLED', ({ data }) => set(data, 'by', 'OPERATOR')],
    ['lets the originator void', 'AUCTION_VOIDED', ({ data }) => set(data, 'by', 'ORIGINATOR')],
    ['adds a field', 'AUCTION_CLOSED', ({ data }) => set(data, 'note', 'a note')],
    [
      'adds a note to the terms',
      'AUCTION_OPENED',
      ({ data }) => set(data.terms, 'client_reference', 'a note'),
    ],
    [
      'adds a note to a quote',
      'QUOTE_SUBMITTED',
      ({ data }) => set(data.quote, 'client_reference', 'a note'),
    ],
    ['adds a field to a void event', 'AUCTION_VOIDED', ({ data }) => set(data, 'operator', 'opal')],
  ])('is detected by the rules when he %s', (_case, type, change) => {
    const matching = bundles.filter(({ records }) => records.some((record) => record.type === type));
    expect(matching.length).toBeGreaterThan(0);
    for (const bundle of matching.slice(0, TRIED)) {
      const index = bundle.records.findIndex((record) => record.type === type);
      const forged = relinked(bundle, (records) => {
        change(records[index]!);
        return records;
      });
      expect(alterations(forged, sha256)).toEqual([]);
      expect(replay(forged).findings.map(({ record }) => record?.number)).toContain(index + 1);
    }
  });
});

it.each<[string, Partial<ReplayRecord>, string]>([
  ['of another shard', { shard: 15 }, 'it is of another shard'],
  ['of an older epoch', { epoch: 0 }, 'its epoch is older'],
  ['with a position before its predecessor', { position: 0 }, 'its position is not after'],
  ['of an epoch that was never opened', { epoch: 2 }, 'lacks the record that opens it'],
])('a record %s is reported, and it alone, even when the records are linked again', (_, change, finding) => {
  inAnySession((played) => {
    if (isLive(played.end.status)) return;
    const forged = relinked(bundleOf(played), (records) => {
      Object.assign(records.at(-1)!, change);
      return records;
    });
    const findings = alterations(forged, sha256);
    expect(findings.map(({ record }) => record?.number)).toEqual([forged.records.length]);
    expect(findings[0]?.what).toContain(finding);
  }, 20);
});

it.each<[string, (record: ReplayRecord) => Partial<ReplayRecord>]>([
  ['in no epoch', () => ({ epoch: 0 })],
  ["at the position of the first owner's own record", ({ position }) => ({ position: position - 1 })],
])('records %s are reported even when they are linked again', (_, moved) => {
  inAnySession((played) => {
    if (isLive(played.end.status) || played.events[0]?.position !== 2) return;
    const forged = relinked(bundleOf(played), (records) => {
      return records.map((record) => ({ ...record, ...moved(record) }));
    });
    expect(alterations(forged, sha256)).toMatchObject([{ record: { number: 1 } }]);
  }, 60);
});

type Fields = Record<string, unknown>;

function fieldOf(value: unknown): Fields {
  return value as Fields;
}

function first(list: unknown): Fields {
  return (list as Fields[])[0]!;
}

function last(list: unknown): Fields {
  return (list as Fields[]).at(-1)!;
}

function ends({ data }: ReplayRecord): void {
  fieldOf(data).status = data.status === 'VOIDED' ? 'CANCELLED' : 'VOIDED';
}

function grow(value: unknown, field: string, by: number): void {
  const fields = fieldOf(value);
  fields[field] = (fields[field] as number) + by;
}

function rename(value: unknown, field = 'market_maker'): void {
  fieldOf(value)[field] = 'someone';
}

function flip({ data }: ReplayRecord): void {
  fieldOf(data).keeps_priority = data.keeps_priority !== true;
}

function set(value: unknown, field: string, to: unknown): void {
  fieldOf(value)[field] = to;
}

/** The other of two causes, so that neither fits the auction. */
function turns(data: unknown, one: string, other: string): void {
  set(data, 'error', fieldOf(data).error === one ? other : one);
}

function moves(value: unknown, field = 'award_id'): void {
  set(value, field, String(fieldOf(value)[field]).replace(/^./, '1'));
}

function invites(terms: unknown, field?: 'originator'): void {
  const { audience, originator } = fieldOf(terms) as { audience: string[]; originator: string };
  set(terms, 'audience', [...audience, field === undefined ? audience[0] : originator]);
}

function crowd(count: number): string[] {
  return Array.from({ length: count }, (_, index) => partyNamed(String(index)));
}

/** How many matching bundles are forged in each way. */
const TRIED = 30;
const LONG_AGO = '2020-01-01T00:00:00.000000000Z';
const NO_SUCH_DAY = '2026-11-31T00:00:00.000000000Z';

function later(record: ReplayRecord): void {
  happens(record, '2031-01-01T00:00:00.000000000Z');
}

function happens(record: ReplayRecord, at: string): void {
  Object.assign(record, { occurred_at: at });
  const quote = record.data.quote as Fields | undefined;
  if (quote !== undefined) quote.submitted_at = record.occurred_at;
}
