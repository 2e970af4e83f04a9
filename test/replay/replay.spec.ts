import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { callOf } from '#apps/replay/call.js';
import { parsePlainJson } from '#apps/replay/plain-json.js';
import { publicKeysIn, sha256 } from '#apps/replay/public-keys.js';
import { judge, type BundleVerdict } from '#apps/replay/verdict.js';
import { verdictJson, verdictText } from '#apps/replay/verdict-text.js';
import { keyIdOf, type ReplayBundle, type ReplayRecord } from '#libs/auction/rules/replay/bundle.js';
import { sealedRecords, signedFrame } from '#libs/auction/rules/replay/seal.js';
import { alterationsOf } from './alterations.js';

/** Bundles of real auctions from a cluster: every bundle must be replayable for ever. */
const BUNDLES = join(import.meta.dirname, 'bundles');
const KINDS = ['won', 'split', 'unawarded', 'cancelled', 'voided'] as const;

const textOf = (name: string): string => readFileSync(join(BUNDLES, `${name}.json`), 'utf8');
const bundleOf = (name: string): ReplayBundle => parsePlainJson(textOf(name)) as ReplayBundle;
const KEYS = publicKeysIn(textOf('keys'));

function numbersIn({ alterations, contradictions }: BundleVerdict): (number | undefined)[] {
  return [...alterations, ...contradictions].map(({ record }) => record?.number);
}

describe.each(KINDS)('the bundle of an auction that was %s', (kind) => {
  const bundle = bundleOf(kind);

  it('is valid', () => {
    expect(judge(bundle, KEYS)).toMatchObject({
      ...{ ok: true, origin: 'VERIFIED', alterations: [], contradictions: [] },
      ...{ ranking: bundle.ranking, state: { status: bundle.status } },
    });
    expect(judge(bundle, undefined)).toMatchObject({ ok: true, origin: 'NOT_VERIFIED' });
  });

  it('cannot be altered in any field, with or without the key, and the altered record is named', () => {
    let tried = 0;
    const unseen: string[] = [];
    for (const { what, record, bundle: altered } of alterationsOf(bundle)) {
      tried += 1;
      const verdict = judge(JSON.parse(JSON.stringify(altered)), undefined);
      if (verdict.ok || (record !== undefined && !numbersIn(verdict).includes(record))) unseen.push(what);
    }
    expect(unseen).toEqual([]);
    expect(tried).toBeGreaterThan(500);
  });

  it('may have its names in another order', () => {
    const turned = JSON.parse(JSON.stringify(bundle), (_name, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).reverse())
        : value,
    ) as ReplayBundle;
    expect(Object.keys(turned)).not.toEqual(Object.keys(bundle));
    expect(judge(turned, KEYS).ok).toBe(true);
  });
});

describe('one altered record', () => {
  const bundle = bundleOf('won');

  it('is the only one that the seals report', () => {
    bundle.records.forEach((_, index) => {
      for (const field of ['occurred_at', 'hash', 'digest', 'previous', 'type'] as const) {
        const altered = structuredClone(bundle);
        const record = altered.records[index]!;
        Object.assign(record, { [field]: `${record[field].slice(0, -1)}~` });
        const accused = judge(altered, KEYS).alterations.flatMap(({ record: name }) => name?.number ?? []);
        expect([...new Set(accused)]).toEqual([index + 1]);
      }
    });
  });

  it.each<[string, (records: ReplayRecord[]) => unknown]>([
    ['is missing', (records) => records.splice(4, 1)],
    ['is missing at the end', (records) => records.pop()],
    ['is missing at the beginning', (records) => records.shift()],
    ['stands twice', (records) => records.splice(4, 0, records[4]!)],
    ['has changed places', (records) => records.splice(4, 2, records[5]!, records[4]!)],
  ])('is noticed when it %s', (_what, change) => {
    const altered = structuredClone(bundle);
    change(altered.records as ReplayRecord[]);
    expect(judge(altered, undefined).alterations.length).toBeGreaterThan(1);
  });
});

/** A forger who knows everything but the private key of the service. */
function forged(bundle: ReplayBundle, change: (records: ReplayRecord[]) => void): ReplayBundle {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const signer = { keyId: keyIdOf(x, sha256), publicKey: x, sign: signWith(privateKey) };
  const { records: before, ...view } = structuredClone(bundle);
  const events = [...before];
  change(events);
  const places = new Map(events.map(({ position, shard, epoch }) => [position, { shard, epoch }]));
  const clean = events.map(({ position, type, version, occurred_at, data, hash }) => {
    return { position, type, version, occurred_at, data, hash };
  });
  const terms = clean[0]!.data.terms as ReplayBundle['terms'];
  const forgedView = { ...view, terms, events: clean };
  const records = [...sealedRecords(forgedView, ({ position }) => places.get(position)!, sha256)];
  return { ...signedFrame(forgedView, records.at(-1)!.digest, signer), records };
}

const EARLIER = '2026-11-21T09:00:00.000000000Z';

function signWith(key: KeyObject): (text: string) => string {
  return (text) => sign(null, Buffer.from(text), key).toString('hex');
}

describe('a forger with another key', () => {
  const bundle = bundleOf('won');

  it('passes only if the reader does not check whose key it is', () => {
    const copy = forged(bundle, () => undefined);
    expect(judge(copy, undefined)).toMatchObject({ ok: true, origin: 'NOT_VERIFIED' });
    expect(judge(copy, KEYS)).toMatchObject({ ok: false, origin: 'NOT_VERIFIED' });
    expect(judge(copy, KEYS).alterations).toEqual([{ what: expect.stringContaining('another key') }]);
  });

  it('is contradicted by the rules after changing what they decide', () => {
    const index = bundle.records.findIndex(({ type }) => type === 'AUCTION_AWARDED');
    const { alterations, contradictions } = judge(
      forged(bundle, (records) => {
        const [award] = records[index]!.data.awards as { price_atoms: number }[];
        award!.price_atoms += 1_000;
      }),
      undefined,
    );
    expect(alterations).toEqual([]);
    expect(contradictions).toEqual([
      {
        record: { number: index + 1, position: bundle.records[index]!.position, type: 'AUCTION_AWARDED' },
        what: expect.stringContaining('awards.0'),
      },
    ]);
  });

  it.each<[string, string, (record: ReplayRecord) => unknown, string]>([
    [
      'a quote from hours before the opening',
      'QUOTE_SUBMITTED',
      (record) => {
        const { quote } = record.data as { quote: Record<string, unknown> };
        Object.assign(record, { occurred_at: EARLIER });
        quote.submitted_at = EARLIER;
      },
      'time runs back',
    ],
    [
      'an end of an execution before its beginning',
      'EXECUTION_CONFIRMED',
      (record) => Object.assign(record, { occurred_at: EARLIER }),
      'time runs back',
    ],
    [
      'a writer of an earlier epoch',
      'QUOTE_REVISED',
      (record) => Object.assign(record, { epoch: 0 }),
      'its epoch is older',
    ],
    [
      'an award of another shard',
      'AUCTION_AWARDED',
      ({ data }) => {
        const [award] = data.awards as { award_id: string }[];
        award!.award_id = `0${award!.award_id.slice(1)}`;
      },
      "no id of the auction's shard",
    ],
    [
      'an originator that is invited',
      'AUCTION_OPENED',
      ({ data }) => {
        const { audience, originator } = data.terms as { audience: string[]; originator: string };
        audience.push(originator);
      },
      'in its own audience',
    ],
    [
      'an unknown error',
      'QUOTE_REJECTED',
      ({ data }) => Object.assign(data, { error: 'LALA' }),
      'refused with LALA',
    ],
  ])('is found out with %s', (_what, type, change, told) => {
    const index = bundle.records.findIndex((record) => record.type === type);
    const { ok, alterations, contradictions } = judge(
      forged(bundle, (records) => change(records[index]!)),
      undefined,
    );
    const found = [...alterations, ...contradictions].filter(({ what }) => what.includes(told));
    expect([ok, found.map(({ record }) => record?.number)]).toEqual([false, [index + 1]]);
  });

  it('can leave out a losing quote without a gap, and only the signature reveals it', () => {
    const without = forged(bundle, (records) => {
      const at = records.findLastIndex(({ type }) => type === 'QUOTE_SUBMITTED');
      records.splice(at, 1);
    });
    expect(judge(without, KEYS).ok).toBe(false);
  });
});

describe('the file', () => {
  it('is not read if one name occurs twice, however it is escaped, or a number is not exact', () => {
    const text = textOf('won').replace(/\s+/g, ' ');
    for (const [from, to] of [
      ['"side": "BUY"', '"side": "BUY", "side": "BUY"'],
      ['"side": "BUY"', String.raw`"side": "BUY", "s\u0069de": "SELL"`],
      ['"rule_version": 1', '"rule_version": 1.0'],
      ['"rule_version": 1', '"rule_version": 9007199254740993'],
    ] as const) {
      expect(text).toContain(from);
      expect(() => parsePlainJson(text.replace(from, to))).toThrow(SyntaxError);
    }
    expect(parsePlainJson('{"a":[{"b":1},{"b":"{\\"b\\":[,"}],"b":-2.5}')).toEqual({
      ...{ a: [{ b: 1 }, { b: '{"b":[,' }], b: -2.5 },
    });
  });

  it.each([
    null,
    7,
    'text',
    [],
    {},
    { format: 'sotto-replay-bundle', version: 2 },
    { ...bundleOf('won'), records: [] },
  ])('is not a bundle if it holds %j', (value) => {
    const verdict = judge(value, undefined);
    expect(verdict.ok).toBe(false);
    expect(verdictText(verdict)).toContain('NOT OK');
  });
});

describe('keys', () => {
  it('are read as a set of JWKs, as one, and as PEM', () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const jwk = publicKey.export({ format: 'jwk' });
    expect(publicKeysIn(publicKey.export({ format: 'pem', type: 'spki' }).toString())).toEqual([jwk.x]);
    expect(publicKeysIn(JSON.stringify(jwk))).toEqual([jwk.x]);
    expect(publicKeysIn(JSON.stringify({ keys: [jwk, jwk] }))).toEqual([jwk.x, jwk.x]);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    expect(() => publicKeysIn(rsa.export({ format: 'pem', type: 'spki' }).toString())).toThrow('Ed25519');
    for (const text of ['', '{}', '{"keys":[{"x":"short"}]}']) expect(() => publicKeysIn(text)).toThrow();
  });
});

describe('the output', () => {
  it('names the record, its position and its type, as text and as JSON', () => {
    const altered = structuredClone(bundleOf('won'));
    Object.assign(altered.records[4]!, { occurred_at: '2020-01-01T00:00:00.000000000Z' });
    const verdict = judge(altered, KEYS);
    const { position, type } = altered.records[4]!;
    expect(verdictText(verdict)).toContain(
      `record 5 (position ${position}, ${type}): its content does not match its digest`,
    );
    expect(JSON.parse(verdictJson(verdict))).toMatchObject({
      verdict: 'MISMATCH',
      alterations: [{ record: { number: 5, position, type } }],
    });
  });

  it("cannot be manipulated by the bundle's texts", () => {
    const altered = structuredClone(bundleOf('won'));
    Object.assign(altered.records[4]!, { type: 'Q\u001b[2J\u009bOK' });
    expect(verdictText(judge(altered, KEYS))).toContain('Q?[2J?OK');
  });

  it.each([
    [[], 'expected the file'],
    [['a', 'b'], 'expected the file'],
    [['a', '--output', 'xml'], 'json'],
    [['a', '--kee', 'b'], 'kee'],
  ])('to %j is the usage', (args, fault) => {
    expect(callOf(args)).toEqual({ fault: expect.stringContaining(fault) });
  });

  it('is the usage when help is asked for', () => {
    expect(callOf(['--help'])).toBe('help');
    expect(callOf(['a.json', '--key', 'k'])).toEqual({ bundle: 'a.json', key: 'k', json: false });
  });
});
