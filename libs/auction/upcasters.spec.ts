import { describe, expect, it } from '@jest/globals';
import { anOpenAuction, aQuote, at } from '#libs/testing/auctions/builders.js';
import { closes } from '#libs/testing/auctions/commands.js';
import { given, placed } from '#libs/testing/auctions/given.js';
import type { Decided } from './decided.js';
import { SHAPES } from './event-shapes.js';
import type { DomainEvent } from './events.js';
import {
  decodeEvent,
  decoderFor,
  encodeEvent,
  MalformedEvent,
  UnknownEvent,
  versionOf,
  type EventRegistry,
} from './upcasters.js';

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
  it('is read as it was written, with all that stands around it', () => {
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

  it('is written in version 1 today, whatever its type', () => {
    const types = Object.keys(SHAPES) as (keyof typeof SHAPES)[];
    expect(types).toHaveLength(22);
    expect(types.map(versionOf)).toEqual(types.map(() => 1));
  });
});

describe('what no rule reads is refused by type and version', () => {
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

describe('what is not what its type promises is refused by the name of the field', () => {
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

  it('but a confirmation of before settlements were kept has none, and is right', () => {
    const { data } = confirming;
    const former = { ...confirming, data: { award_id: data.award_id, attempt: data.attempt } };
    expect(thrownBy(JSON.stringify(former))).toBeUndefined();
  });

  it.each(Object.keys(SHAPES).filter((type) => type !== 'AUCTION_CLOSED'))('%s without anything', (type) => {
    expect(thrownBy(JSON.stringify({ ...ENVELOPE, type, data: {} }))).toBeInstanceOf(MalformedEvent);
  });
});

describe('an old version is lifted step by step', () => {
  const registry: EventRegistry = {
    QUOTE_EXPIRED: {
      lifts: [
        ({ quote, ...rest }) => ({ ...rest, quote_id: quote }),
        ({ account, ...rest }) => ({ ...rest, maker: account }),
      ],
      shape: SHAPES.QUOTE_EXPIRED,
    },
  };
  const decode = decoderFor(registry);
  const now = { ...ENVELOPE, type: 'QUOTE_EXPIRED', version: 3, data: { quote_id: 'q', maker: 'mia' } };

  it.each([
    [1, { quote: 'q', account: 'mia' }],
    [2, { quote_id: 'q', account: 'mia' }],
    [3, { quote_id: 'q', maker: 'mia' }],
  ])('from version %d', (version, data) => {
    expect(decode(JSON.stringify({ ...now, version, data }))).toEqual(now);
  });

  it('and then looked at', () => {
    const lost = JSON.stringify({ ...now, version: 1, data: { quote: 'q' } });
    expect(thrownBy(lost, decode)).toMatchObject({ name: 'MalformedEvent', version: 1, field: 'data.maker' });
    expect(thrownBy(JSON.stringify({ ...now, version: 1, data: 'q' }), decode)).toBeInstanceOf(
      MalformedEvent,
    );
  });

  it('but never from the future', () => {
    expect(thrownBy(JSON.stringify({ ...now, version: 4 }), decode)).toBeInstanceOf(UnknownEvent);
  });
});
