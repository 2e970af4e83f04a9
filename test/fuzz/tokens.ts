import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { mutatedText } from './mutations.js';

type Claims = Readonly<Record<string, unknown>>;

const CLAIMS: readonly Claims[] = [
  ...[4_102_444_800, -1, 'never'].map((exp) => ({ exp })),
  ...['00000000-0000-4000-8000-000000000000', { toString: 'x' }].map((sub) => ({ sub })),
  { aud: ['everybody'] },
  { iss: 'somebody' },
  { ver: 2 },
  { sid: null },
  { roles: ['OPERATOR'], capabilities: ['auction:create', 'auction:quote'] },
];
const HEADERS: readonly Claims[] = [
  ...['HS256', 'RS512', 'ES256', 'none', ''].map((alg) => ({ alg })),
  ...['', '../../etc/passwd', 'x'.repeat(5_000), '\u0000'].map((kid) => ({ kid })),
  { jwk: { kty: 'oct', k: 'AAAA' }, jku: 'http://127.0.0.1:1/', crit: ['exp'] },
];

/** A bearer token that was never issued: close to a valid one, or nothing like it. */
export function forgedToken(good: string): fc.Arbitrary<string> {
  const [header = '', claims = '', signature = ''] = good.split('.');
  const changed = fc.constantFrom(...CLAIMS).map((change) => changedPart(claims, change));
  return fc.oneof(
    changed.map((other) => `${header}.${other}.${signature}`),
    changed.map((other) => signedWithText(changedPart(header, { alg: 'HS256' }), other)),
    fc.constantFrom(...HEADERS).map((change) => `${changedPart(header, change)}.${claims}.${signature}`),
    fc.constant(`${changedPart('', { alg: 'none', typ: 'JWT' })}.${claims}.`),
    mutatedText(signature).map((other) => `${header}.${claims}.${other}`),
    mutatedText(good),
    fc.constantFrom('', `${'a.'.repeat(200)}b`, 'x'.repeat(4_000), 'x'.repeat(12_000)),
  );
}

function changedPart(part: string, change: Claims): string {
  const old = part === '' ? {} : (JSON.parse(Buffer.from(part, 'base64url').toString()) as Claims);
  return Buffer.from(JSON.stringify({ ...old, ...change })).toString('base64url');
}

function signedWithText(header: string, claims: string): string {
  const signature = createHmac('sha256', 'secret').update(`${header}.${claims}`).digest('base64url');
  return `${header}.${claims}.${signature}`;
}
