import { createHmac, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { KeyRing } from '../keys/key-ring.js';
import { signingKeyOf, type SigningKey } from '../keys/signing-key.js';
import { TokenReader } from './token-reader.js';

const IAT = 1_795_262_400;

function newPrivateKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const CLAIMS: Readonly<Record<string, unknown>> = {
  iss: 'https://auth.sotto.exchange',
  aud: 'sotto-api',
  ver: 1,
  sub: randomUUID(),
  sid: randomUUID(),
  jti: randomUUID(),
  iat: IAT,
  exp: IAT + 3_600,
};

let ours: SigningKey;
let theirs: SigningKey;
let ring: KeyRing;

beforeAll(() => {
  const times = { createdAt: IAT, activeFrom: IAT };
  ours = signingKeyOf(newPrivateKey(), times);
  theirs = signingKeyOf(newPrivateKey(), times);
  ring = new KeyRing([ours]);
});

/** Signs any claims, even those that the signing library would refuse. */
function signed(claims: object, header: object = {}, key: KeyObject = ours.privateKey): string {
  return jwt.sign(JSON.stringify(claims), key, {
    algorithm: 'RS256',
    header: { alg: 'RS256', typ: 'JWT', kid: ours.kid, ...header },
  });
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Other texts that a lenient base64 reader decodes to the same bytes. */
function otherSpellings(part: string): Set<string> {
  const bytes = Buffer.from(part, 'base64url');
  const lastDigits = Array.from(DIGITS).map((digit) => part.slice(0, -1) + digit);
  const spellings = [
    ...lastDigits.filter((other) => Buffer.from(other, 'base64url').equals(bytes)),
    `${part}=`,
    `${part}==`,
    `${part.slice(0, 4)}!${part.slice(4)}`,
    part.replaceAll('-', '+').replaceAll('_', '/'),
  ];
  return new Set(spellings.filter((spelling) => spelling !== part));
}

function isGenuine(token: string): boolean {
  return new TokenReader().read(token, ring) !== undefined;
}

describe('a genuine token', () => {
  it('is read as its key id and claims', () => {
    expect(new TokenReader().read(signed(CLAIMS), ring)).toEqual({ kid: ours.kid, claims: CLAIMS });
  });

  it('may have an e-mail address and unknown claims', () => {
    expect(isGenuine(signed({ ...CLAIMS, email: 'a@b.c', custodyOrgId: 'org' }))).toBe(true);
  });

  it('is still genuine after its expiry', () => {
    expect(isGenuine(signed({ ...CLAIMS, iat: 1_000, exp: 2_000 }))).toBe(true);
  });

  it('is accepted from every key of the ring', () => {
    const token = signed(CLAIMS, { kid: theirs.kid }, theirs.privateKey);
    expect(isGenuine(token)).toBe(false);
    expect(new TokenReader().read(token, new KeyRing([ours, theirs]))).toBeDefined();
  });
});

describe('the signature', () => {
  it('is valid for one text only, because no part has another accepted encoding', () => {
    const parts = signed(CLAIMS).split('.');
    const others = parts.flatMap((part, index) =>
      [...otherSpellings(part)].map((other) =>
        parts.map((own, at) => (at === index ? other : own)).join('.'),
      ),
    );
    expect(others.length).toBeGreaterThan(15);
    expect(others.filter(isGenuine)).toHaveLength(0);
    expect(isGenuine(parts.join('.'))).toBe(true);
  });

  it('is refused with the algorithm none, in any spelling', () => {
    for (const alg of ['none', 'None', 'NONE', 'nOnE']) {
      const head = base64url({ alg, typ: 'JWT', kid: ours.kid });
      expect(isGenuine(`${head}.${base64url(CLAIMS)}.`)).toBe(false);
      expect(isGenuine(`${head}.${base64url(CLAIMS)}`)).toBe(false);
      expect(isGenuine(`${head}.${base64url(CLAIMS)}.${signed(CLAIMS).split('.')[2]!}`)).toBe(false);
    }
  });

  it('is refused when it is an HMAC with our public key', () => {
    const content = `${base64url({ alg: 'HS256', typ: 'JWT', kid: ours.kid })}.${base64url(CLAIMS)}`;
    const secrets = [
      ours.publicKey.export({ type: 'spki', format: 'pem' }),
      ours.publicKey.export({ type: 'spki', format: 'der' }),
      Buffer.from(JSON.stringify(ring.jwks().keys[0])),
    ];
    for (const secret of secrets) {
      const signature = createHmac('sha256', secret).update(content).digest('base64url');
      expect(isGenuine(`${content}.${signature}`)).toBe(false);
    }
  });

  it('is refused with other algorithms of the same key', () => {
    for (const algorithm of ['RS384', 'RS512', 'PS256'] as const) {
      const token = jwt.sign(JSON.stringify(CLAIMS), ours.privateKey, {
        algorithm,
        header: { alg: algorithm, kid: ours.kid },
      });
      expect(isGenuine(token)).toBe(false);
    }
  });

  it('of another key is refused under the id of our key', () => {
    expect(isGenuine(signed(CLAIMS, {}, theirs.privateKey))).toBe(false);
  });

  it('is refused with a key id that is unknown, missing or not a string', () => {
    for (const kid of [theirs.kid, '', undefined, 7, '__proto__'])
      expect(isGenuine(signed(CLAIMS, { kid }))).toBe(false);
  });

  it('is refused with a key in the header', () => {
    const jwk = theirs.publicKey.export({ format: 'jwk' });
    expect(isGenuine(signed(CLAIMS, { jwk, kid: undefined }, theirs.privateKey))).toBe(false);
  });

  it('is refused with critical extensions', () => {
    expect(isGenuine(signed(CLAIMS, { crit: ['b64'], b64: false }))).toBe(false);
  });

  it('covers every claim', () => {
    const [head, , signature] = signed(CLAIMS).split('.');
    const other = base64url({ ...CLAIMS, sub: randomUUID() });
    expect(isGenuine([head, other, signature].join('.'))).toBe(false);
  });
});

describe('the claims', () => {
  it.each(['iss', 'aud', 'ver', 'sub', 'sid', 'jti', 'iat', 'exp'])('are refused without %s', (name) => {
    const others = Object.entries(CLAIMS).filter(([key]) => key !== name);
    expect(isGenuine(signed(Object.fromEntries(others)))).toBe(false);
  });

  it.each([
    ['iss', 'https://auth.sotto.exchange/'],
    ['iss', ['https://auth.sotto.exchange']],
    ['aud', 'other-api'],
    ['aud', ['sotto-api']],
    ['aud', ['sotto-api', 'other-api']],
    ['ver', '1'],
    ['ver', 0],
    ['ver', 2],
    ['ver', true],
    ['ver', null],
    ['sub', 42],
    ['sub', ''],
    ['sub', 'somebody'],
    ['sub', '2F1B0F6E-7E0C-4B0A-9A5B-3C1D2E4F5A6B'],
    ['sid', 'x'],
    ['sid', null],
    ['jti', { id: 1 }],
    ['jti', ''],
    ['iat', '1795262400'],
    ['iat', IAT + 0.5],
    ['iat', -1],
    ['exp', '1795266000'],
    ['exp', IAT + 0.5],
    ['exp', null],
    ['exp', 1e300],
    ['email', 7],
  ])('are refused with %s %j', (name, value) => {
    expect(isGenuine(signed({ ...CLAIMS, [name]: value }))).toBe(false);
  });

  it('are refused if they expire when they are issued', () => {
    expect(isGenuine(signed({ ...CLAIMS, exp: IAT }))).toBe(false);
    expect(isGenuine(signed({ ...CLAIMS, exp: IAT + 1 }))).toBe(true);
  });

  it('are refused when they span more than a day', () => {
    expect(isGenuine(signed({ ...CLAIMS, exp: IAT + 86_400 }))).toBe(true);
    expect(isGenuine(signed({ ...CLAIMS, exp: IAT + 86_401 }))).toBe(false);
  });
});

describe('a text that is no token', () => {
  it.each([
    '',
    '.',
    '..',
    '...',
    'a.b.c',
    'Bearer x',
    'null',
    '\u0000',
    'ü.ü.ü',
    `${'a'.repeat(100)}.${'b'.repeat(100)}`,
    `${base64url({ alg: 'RS256' })}.${Buffer.from('{').toString('base64url')}.AAAA`,
    `${Buffer.from('null').toString('base64url')}.${base64url(CLAIMS)}.AAAA`,
    `${Buffer.from('[]').toString('base64url')}.${base64url(CLAIMS)}.AAAA`,
  ])('%j is refused', (token) => {
    expect(isGenuine(token)).toBe(false);
  });

  it('is refused when its content is no object', () => {
    for (const content of ['"text"', '7', 'null', '[]']) {
      const token = jwt.sign(content, ours.privateKey, {
        algorithm: 'RS256',
        header: { alg: 'RS256', typ: 'JWT', kid: ours.kid },
      });
      expect(isGenuine(token)).toBe(false);
    }
  });

  it('is refused if it is longer than 8 KiB', () => {
    const padded = (length: number): string => signed({ ...CLAIMS, custodyOrgId: 'x'.repeat(length) });
    const longest = 5_400;
    expect(padded(longest).length).toBeLessThanOrEqual(8_192);
    expect(isGenuine(padded(longest))).toBe(true);
    expect(padded(longest + 200).length).toBeGreaterThan(8_192);
    expect(isGenuine(padded(longest + 200))).toBe(false);
  });
});

describe('a token that was read before', () => {
  it('is not verified again', () => {
    const reader = new TokenReader();
    const token = signed(CLAIMS);
    expect(reader.read(token, ring)).toBe(reader.read(token, ring));
  });

  it('is refused once its key was removed, and accepted when the key is back', () => {
    const reader = new TokenReader();
    const token = signed(CLAIMS);
    expect(reader.read(token, ring)).toBeDefined();
    expect(reader.read(token, new KeyRing([theirs]))).toBeUndefined();
    expect(reader.read(token, ring)).toBeDefined();
  });

  it('is read again after it was evicted from the cache', () => {
    const reader = new TokenReader(1);
    const [first, second] = [signed(CLAIMS), signed({ ...CLAIMS, jti: randomUUID() })];
    const before = reader.read(first, ring);
    reader.read(second, ring);
    const after = reader.read(first, ring);
    expect(after).toEqual(before);
    expect(after).not.toBe(before);
  });
});
