import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { closes } from '#libs/testing/auctions/commands.js';
import { given, placed } from '#libs/testing/auctions/given.js';
import type { Decided } from './decided.js';
import { SHAPES, type ValueCheck } from './event-shapes.js';
import type { DomainEvent } from './events.js';
import {
  decodeEvent,
  decoderFor,
  encodeEvent,
  MalformedEvent,
  UnknownEvent,
  versionOf,
  type EventVersion,
} from './event-versions.js';

const ENVELOPE = { version: 1, at: at(0), auction_id: 'an-auction' };
const open = given(anOpenAuction(), aQuote('mia'));

function thrownBy(json: string, decode = decodeEvent): unknown {
  try {
    decode(json);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('an event', () => {
  it('is decoded exactly as it was encoded, envelope included', () => {
    const event: DomainEvent = {
      type: 'QUOTE_EXPIRED',
      data: { quote_id: 'q', maker: 'mia' },
      ...ENVELOPE,
      request_id: 'r',
      command: { account_id: 'mia', operation: 'SUBMIT', key: 'k', content: 'c' },
    };
    expect(decodeEvent(encodeEvent(event))).toEqual(event);
  });

  it('belongs to an auction or to a shard', () => {
    const ofShard: DomainEvent = {
      type: 'ALL_WITHDRAWN',
      version: 1,
      at: at(0),
      data: { account_id: 'mia', withdrawn: ['q'], not_withdrawable: [] },
    };
    expect(decodeEvent(encodeEvent(ofShard))).toEqual(ofShard);
  });

  it('of every type is written in version 1 today', () => {
    const types = Object.keys(SHAPES) as (keyof typeof SHAPES)[];
    expect(types).toHaveLength(22);
    expect(types.map(versionOf)).toEqual(types.map(() => 1));
  });
});

describe('an event of an unknown type or version is refused with both in the error', () => {
  it.each([
    ['AUCTION_FROZEN', 1],
    ['AUCTION_CLOSED', 2],
    ['AUCTION_CLOSED', 0],
    ['AUCTION_CLOSED', 1.5],
    ['AUCTION_CLOSED', '1'],
    ['AUCTION_CLOSED', undefined],
    ['AUCTION_FROZEN', undefined],
    ['constructor', 1],
    ['__proto__', 1],
  ])('%s in version %p', (type, version) => {
    const error = thrownBy(JSON.stringify({ ...ENVELOPE, type, version, data: {} }));
    expect(error).toBeInstanceOf(UnknownEvent);
    expect(error).toMatchObject({ type, version });
    expect(String(error)).toContain(`${type} in version ${String(version)}`);
  });

  it.each(['null', '1', '[]', '{}', '"QUOTE_EXPIRED"', '{"type":3,"version":1}'])('%s', (json) => {
    expect(thrownBy(json)).toBeInstanceOf(UnknownEvent);
  });
});

describe('an event that does not match its type is refused with the path of the wrong field', () => {
  const withdrawn = {
    ...ENVELOPE,
    type: 'QUOTE_WITHDRAWN',
    data: { quote_id: 'q', maker: 'm', by: 'OPERATOR' },
  };
  const opening = { ...ENVELOPE, ...anOpenAuction().body };
  const decided = closes()(open.state) as readonly Decided[];
  const awarding = placed(decided[1]!, 9, 'an-auction').event;
  const settlement = { venue: 'venue_a', asset: 'rain/YES', delivered_atoms: 0 };
  const confirming = {
    ...ENVELOPE,
    type: 'EXECUTION_CONFIRMED',
    data: { award_id: 'a', attempt: 1, settlement },
  };

  it.each<[string, object, string[], unknown]>([
    ['at', withdrawn, ['at'], 5],
    ['auction_id', withdrawn, ['auction_id'], undefined],
    ['data', withdrawn, ['data'], null],
    ['data.maker', withdrawn, ['data', 'maker'], undefined],
    ['data.terms.quantity_atoms', opening, ['data', 'terms', 'quantity_atoms'], 1.5],
    ['data.terms.quantity_atoms', opening, ['data', 'terms', 'quantity_atoms'], '10'],
    ['data.terms.grid.price_tick_atoms', opening, ['data', 'terms', 'grid', 'price_tick_atoms'], -1],
    ['data.hold.0.amount', opening, ['data', 'hold', '0', 'amount'], 2 ** 53],
    ['data.hold', opening, ['data', 'hold'], {}],
    ['data.awards.0.maker_hold.1', awarding, ['data', 'awards', '0', 'maker_hold', '1'], null],
    ['data.awards.0.price_atoms', awarding, ['data', 'awards', '0', 'price_atoms'], undefined],
    ['data.attempt', confirming, ['data', 'attempt'], undefined],
    ['data.settlement', confirming, ['data', 'settlement'], null],
    ['data.settlement.asset', confirming, ['data', 'settlement', 'asset'], undefined],
    ['data.settlement.delivered_atoms', confirming, ['data', 'settlement', 'delivered_atoms'], -1],
  ])('%s', (field, event, path, value) => {
    const broken = structuredClone(event);
    expect(thrownBy(JSON.stringify(broken))).toBeUndefined();
    const last = path.at(-1) ?? '';
    const parent = path
      .slice(0, -1)
      .reduce<object>((part, name) => Reflect.get(part, name) as object, broken);
    Reflect.set(parent, last, value);
    const error = thrownBy(JSON.stringify(broken));
    expect(error).toBeInstanceOf(MalformedEvent);
    expect(error).toMatchObject({ field, version: 1 });
  });

  it('a confirmation in a replay bundle has no settlement and is accepted', () => {
    const { data } = confirming;
    const bundled = { ...confirming, data: { award_id: data.award_id, attempt: data.attempt } };
    expect(thrownBy(JSON.stringify(bundled))).toBeUndefined();
  });

  it.each(Object.keys(SHAPES).filter((type) => type !== 'AUCTION_CLOSED'))(
    '%s without data is refused',
    (type) => {
      expect(thrownBy(JSON.stringify({ ...ENVELOPE, type, data: {} }))).toBeInstanceOf(MalformedEvent);
    },
  );
});

describe('an event of an earlier version', () => {
  const shape: ValueCheck = (data) =>
    typeof (data as { quote?: unknown }).quote === 'string' ? undefined : 'quote';
  const versions: readonly EventVersion[] = [
    {
      type: 'QUOTE_EXPIRED',
      version: 1,
      shape,
      toCurrent: ({ quote, ...rest }) => ({ ...rest, quote_id: quote }),
    },
    { type: 'QUOTE_EXPIRED', version: 2, shape: SHAPES.QUOTE_EXPIRED },
  ];
  const decode = decoderFor(versions);
  const now = { ...ENVELOPE, type: 'QUOTE_EXPIRED', version: 2, data: { quote_id: 'q', maker: 'mia' } };
  const former = { ...now, version: 1, data: { quote: 'q', maker: 'mia' } };

  it('is converted to the current version', () => {
    expect(decode(JSON.stringify(now))).toEqual(now);
    expect(decode(JSON.stringify(former))).toEqual(now);
  });

  it('is checked against the shape of its own version', () => {
    const lost = JSON.stringify({ ...former, data: {} });
    expect(thrownBy(lost, decode)).toMatchObject({ name: 'MalformedEvent', version: 1, field: 'data.quote' });
  });

  it('is refused when no row reads its version, like a version of the future', () => {
    for (const [rows, version] of [
      [versions.slice(1), 1],
      [versions, 3],
    ] as const) {
      const error = thrownBy(JSON.stringify({ ...former, version }), decoderFor(rows));
      expect(error).toMatchObject({ name: 'UnknownEvent', type: 'QUOTE_EXPIRED', version });
    }
  });
});
