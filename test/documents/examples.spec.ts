import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parsePlainJson } from '#apps/replay/plain-json.js';
import { publicKeysIn } from '#apps/replay/public-keys.js';
import { judge } from '#apps/replay/verdict.js';
import { NO_SHARD, resumePoints } from '#libs/auction/stream/resume-point.js';
import { ResumeTokens } from '#libs/socket/resume-token.js';
import { http, stream } from './described-interface.js';

type Fields = Readonly<Record<string, unknown>>;

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z$/;

/** The OpenAPI document's example answer of an operation. */
function answer(operationId: string, status = 200): Fields {
  const operation = Object.values(http.paths)
    .flatMap((methods) => Object.values(methods))
    .find((one) => one.operationId === operationId);
  const response = operation?.responses[status];
  const content = response !== undefined && 'content' in response ? response.content : undefined;
  const [example] = Object.values(content?.['application/json']?.examples ?? {});
  if (example === undefined) throw new Error(`${operationId} has no example for ${status}`);
  return example.value as Fields;
}

/** The AsyncAPI document's example of a message. */
function message(name: string): Fields {
  const found = Object.values(stream.channels.stream.messages).find((one) => one.name === name);
  const [example] = found?.examples ?? [];
  if (example === undefined) throw new Error(`${name} has no example`);
  return example.payload as Fields;
}

const partOf = (token: string, part: number): string => token.split('.')[part] ?? '';
const jsonOf = (part: string): Fields => JSON.parse(Buffer.from(part, 'base64url').toString()) as Fields;

describe('the bundle in the OpenAPI document', () => {
  const text = JSON.stringify(answer('getReplayBundle'));

  it('passes replay under the audit key in the document', () => {
    const verdict = judge(parsePlainJson(text), publicKeysIn(JSON.stringify(answer('getAuditKeys'))));
    expect(verdict).toMatchObject({ ok: true, origin: 'VERIFIED', alterations: [], contradictions: [] });
  });

  it('is of an auction with winners and a loser', () => {
    const reasons = (answer('getReplayBundle').ranking as { reason: string }[]).map(({ reason }) => reason);
    expect(reasons).toEqual(expect.arrayContaining(['AWARDED', 'OUTRANKED']));
  });
});

describe('the tokens in the documents', () => {
  const [key] = answer('jwks').keys as { kid: string; n: string }[];

  it('can be verified with the key in the document, which is a valid key', () => {
    const publicKey = createPublicKey({ key: { kty: 'RSA', ...key }, format: 'jwk' });
    expect(publicKey.asymmetricKeyDetails?.modulusLength).toBeGreaterThanOrEqual(2_048);
    const tokens = [
      answer('login').access_token,
      answer('refresh').access_token,
      message('auth.refresh').token,
    ] as string[];
    for (const token of tokens) {
      expect(jsonOf(partOf(token, 0))).toMatchObject({ alg: 'RS256', kid: key?.kid });
      expect(jsonOf(partOf(token, 1))).toMatchObject({ ver: 1, exp: expect.any(Number) as unknown });
      const signed = Buffer.from(`${partOf(token, 0)}.${partOf(token, 1)}`);
      const signature = Buffer.from(partOf(token, 2), 'base64url');
      expect(verify('sha256', signed, publicKey, signature)).toBe(true);
    }
  });

  it('expire at the stated time', () => {
    const { access_token: token, expires_at: expiry } = answer('login') as Record<string, string>;
    expect(expiry).toMatch(INSTANT);
    expect(Date.parse(expiry ?? '')).toBe(Number(jsonOf(partOf(token ?? '', 1)).exp) * 1_000);
  });

  it('are complete if they resume a stream', () => {
    const subscriptions = [0, 1].map((number) => ({
      ...{ number, channel: 'auctions' as const, auctionId: undefined },
      ...{ base: 0, sent: 0, isComplete: true, isOver: false, told: undefined },
    }));
    const positions = [0, 0, 0];
    const point = { attachment: 1, tokenlessShard: NO_SHARD, nextNumber: 2, positions, subscriptions };
    const life = { id: '2f1c8a90-5b7d-4e63-8a11-9d4f0c6b7e20' };
    const connectionId = message('welcome').connection_id as string;
    const real = new ResumeTokens(['aa'.repeat(32)], resumePoints, life).seal(
      { ...point, connectionId },
      'somebody',
      1,
    );
    for (const name of ['hello', 'snapshot', 'event', 'heartbeat']) {
      const token = message(name).resume_token as string;
      expect([name, token.length]).toEqual([name, real.length]);
      expect(Buffer.from(token, 'base64url').toString('base64url')).toBe(token);
      // The version, which a gateway checks first.
      expect(Buffer.from(token, 'base64url')[0]).toBe(Buffer.from(real, 'base64url')[0]);
    }
  });
});

describe('the numbers in the documents', () => {
  it('are those of a service with default settings', () => {
    expect(message('welcome').heartbeat_ms).toBe(10_000);
    expect(answer('getServiceLimits').limits_factor).toBe(1);
    const create = { bucket: 'create', rate_per_second: 2, burst: 4 };
    expect(answer('getLimits').buckets).toContainEqual(expect.objectContaining(create));
  });
});
