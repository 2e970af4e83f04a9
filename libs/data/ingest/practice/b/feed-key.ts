import { constants, createPrivateKey, sign } from 'node:crypto';
import { z } from 'zod';
import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { PublicReads } from '../public-reads.js';

/** The venue accepts only signed connections, even for public channels. This key is used for reading only, never for orders. */
export interface FeedKey {
  readonly key_id: string;
  readonly private_key_pem: string;
}

const opened = z.object({ key_id: z.string(), private_key_pem: z.string() });

/** Opens an account without money at the practice venue, and returns its key. */
export async function openFeedKey(reads: PublicReads, accountsUrl: string): Promise<FeedKey> {
  const read = { url: new URL('/accounts', accountsUrl), body: JSON.stringify({ exchange_id: 'venue_b' }) };
  return opened.parse(JSON.parse(await reads.good(read, new AbortController().signal)));
}

export function signedHeaders(
  { key_id, private_key_pem }: FeedKey,
  path: string,
  clock: Clock,
): Readonly<Record<string, string>> {
  const timestamp = String(clock.epochNanos() / NANOS_PER_MILLI);
  const signature = sign('sha256', Buffer.from(`${timestamp}GET${path}`), {
    key: createPrivateKey(private_key_pem),
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  });
  return {
    'KALSHI-ACCESS-KEY': key_id,
    'KALSHI-ACCESS-TIMESTAMP': timestamp,
    'KALSHI-ACCESS-SIGNATURE': signature.toString('base64'),
  };
}
