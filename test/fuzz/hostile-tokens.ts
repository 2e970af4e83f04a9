import { createHmac } from 'node:crypto';
import type { Random } from '../simulator/kernel/random.js';
import { mutatedText } from './mutations.js';

type Claims = Record<string, unknown>;

/** Bearer tokens that are almost good. */
export function hostileToken(good: string, random: Random): string {
  const [header = '', claims = '', signature = ''] = good.split('.');
  const changed = sealed({ ...opened(claims), ...random.pick<Claims>(CHANGES) });
  return random.pick([
    () => `${header}.${changed}.${signature}`,
    () => `${sealed({ alg: 'none', typ: 'JWT' })}.${claims}.`,
    () =>
      `${sealed({ ...opened(header), alg: random.pick(['HS256', 'RS512', 'ES256', 'none', '']) })}.${claims}.${signature}`,
    () => signedWithText(header, claims),
    () =>
      `${sealed({ ...opened(header), kid: random.pick(['', '../../etc/passwd', 'x'.repeat(5_000), '\u0000']) })}.${claims}.${signature}`,
    () =>
      `${sealed({ ...opened(header), jwk: { kty: 'oct', k: 'AAAA' }, jku: 'http://127.0.0.1:1/', crit: ['exp'] })}.${claims}.${signature}`,
    () => `${header}.${claims}.${mutatedText(signature, random)}`,
    () => mutatedText(good, random),
    () => `${header}.${sealed({})}.${signature}`,
    () => `${'a.'.repeat(200)}b`,
    () => 'x'.repeat(random.pick([8, 4_000, 12_000])),
  ])();
}

const CHANGES: readonly Claims[] = [
  { exp: 4_102_444_800 },
  { exp: -1 },
  { exp: 'never' },
  { sub: '00000000-0000-4000-8000-000000000000' },
  { sub: { toString: 'x' } },
  { aud: ['everybody'] },
  { iss: 'somebody' },
  { ver: 2 },
  { ver: '1' },
  { sid: null },
  { roles: ['OPERATOR'], capabilities: ['auction:create', 'auction:quote'] },
];

function signedWithText(header: string, claims: string): string {
  const other = sealed({ ...opened(header), alg: 'HS256' });
  const signature = createHmac('sha256', 'secret').update(`${other}.${claims}`).digest('base64url');
  return `${other}.${claims}.${signature}`;
}

function opened(part: string): Claims {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Claims;
}

function sealed(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
