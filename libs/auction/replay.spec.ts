import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { inAnySession, type Played } from '#libs/testing/auction-play.js';
import { auditView } from './audit.js';
import { replay } from './replay.js';
import type { ReplayBundle, ReplayRecord } from './replay-bundle.js';
import { alterations } from './replay-integrity.js';
import { sealedRecords, signedFrame } from './replay-seal.js';
import { isLive } from './state.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const signer = { keyId: 'k', publicKey: 'p', sign: (text: string) => sha256(text) };

function bundleOf({ events, end }: Played): ReplayBundle {
  const witnessed = events.map((placed) => ({ ...placed, hash: sha256(`${placed.position}`) }));
  const view = auditView(end, witnessed, (account) => `P-${sha256(account).slice(0, 8)}`);
  const records = [...sealedRecords(view, () => ({ shard: 0, epoch: 1 }), sha256)];
  const bundle = { ...signedFrame(view, records.at(-1)!.digest, signer), records };
  return JSON.parse(JSON.stringify(bundle)) as ReplayBundle;
}

/** What a forger would do who knows how records are linked. */
function resealed(bundle: ReplayBundle, change: (records: ReplayRecord[]) => ReplayRecord[]): ReplayBundle {
  const events = change(structuredClone([...bundle.records]));
  const opened = events[0]!.data.terms as ReplayBundle['terms'];
  const view = { ...bundle, terms: opened, events };
  const places = events[Symbol.iterator]();
  const placeOf = (): { shard: number; epoch: number } => {
    const { shard, epoch } = places.next().value!;
    return { shard, epoch };
  };
  const records = [...sealedRecords(view, placeOf, sha256)];
  return { ...signedFrame(view, records.at(-1)!.digest, signer), records };
}

describe('a replay', () => {
  it('finds nothing in what the rules have decided, whatever happened', () => {
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

  it('ends nowhere but at the completion', () => {
    inAnySession((played) => {
      if (isLive(played.end.status)) return;
      const cut = resealed(bundleOf(played), (records) => records.slice(0, -1));
      expect(replay(cut).findings.map(({ what }) => what)).toContain('the auction does not end here');
    }, 100);
  });
});

describe('a forger who seals the records anew', () => {
  it.each<[string, string, (record: ReplayRecord) => void]>([
    ['makes a quote better', 'QUOTE_SUBMITTED', ({ data }) => grow(data.quote, 'quantity_atoms', 1)],
    [
      'gives a winner another price',
      'AUCTION_AWARDED',
      ({ data }) => grow(first(data.awards), 'price_atoms', 1),
    ],
    ['lets a revision keep its priority', 'QUOTE_REVISED', (record) => flip(record)],
    ['lets somebody quote who was not invited', 'QUOTE_SUBMITTED', ({ data }) => rename(data.quote)],
    ['closes at another time', 'AUCTION_CLOSED', (record) => later(record)],
    ['lets a quote come after the close', 'QUOTE_SUBMITTED', (record) => later(record)],
    ['changes the reserve', 'AUCTION_OPENED', ({ data }) => grow(data.terms, 'quantity_atoms', 1)],
    ['ends it otherwise', 'AUCTION_COMPLETED', (record) => ends(record)],
    [
      'reports on an award that was never made',
      'EXECUTION_CONFIRMED',
      ({ data }) => rename(data, 'award_id'),
    ],
    ['sets less aside', 'QUOTE_SUBMITTED', ({ data }) => grow(last(fieldOf(data.quote).hold), 'amount', -1)],
  ])('is found out by the rules when he %s', (_what, type, change) => {
    let tried = 0;
    inAnySession((played) => {
      if (isLive(played.end.status)) return;
      const bundle = bundleOf(played);
      const index = bundle.records.findIndex((record) => record.type === type);
      if (index < 0) return;
      tried += 1;
      const forged = resealed(bundle, (records) => {
        change(records[index]!);
        return records;
      });
      expect(alterations(forged, sha256)).toEqual([]);
      expect(replay(forged).findings.map(({ record }) => record?.number)).toContain(index + 1);
    }, 250);
    expect(tried).toBeGreaterThan(0);
  });
});

it.each<[string, Partial<ReplayRecord>, string]>([
  ['of another shard', { shard: 15 }, 'it is of another shard'],
  ['of a writer that was deposed', { epoch: 0 }, 'its writer was deposed'],
  ['from before the one before it', { position: 0 }, 'it stands before'],
])('a record %s is found out even when it was sealed anew, and it alone', (_, change, told) => {
  inAnySession((played) => {
    if (isLive(played.end.status)) return;
    const forged = resealed(bundleOf(played), (records) => {
      Object.assign(records.at(-1)!, change);
      return records;
    });
    const findings = alterations(forged, sha256);
    expect(findings.map(({ record }) => record?.number)).toEqual([forged.records.length]);
    expect(findings[0]?.what).toContain(told);
  }, 20);
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
  fieldOf(value)[field] = 'somebody';
}

function flip({ data }: ReplayRecord): void {
  fieldOf(data).keeps_priority = data.keeps_priority !== true;
}

function later(record: ReplayRecord): void {
  Object.assign(record, { occurred_at: '2031-01-01T00:00:00.000000000Z' });
  const quote = record.data.quote as Fields | undefined;
  if (quote !== undefined) quote.submitted_at = record.occurred_at;
}
