import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { listen } from '#libs/platform/internal-server/internal-server.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import type { Signer } from '../protocol/signer-protocol.js';
import { VenueBRequests } from './b/requests.js';
import { VenueERequests } from './e/requests.js';
import { VenueHttp } from './http-exchange.js';

let server: Server;
let http: VenueHttp;
let clock: MovableClock;
let received: number;
let suspendedMillis: number;

/** The calling process is suspended while it waits for this signer. */
function signer(): Signer {
  const unused = (): Promise<never> => Promise.reject(new Error('nothing but signatures is asked for'));
  const sign = (request: { readonly venue: string }): Promise<never> => {
    clock.leap(suspendedMillis);
    const signed_at = '2026-11-28T00:00:00.000000000Z';
    const ofB = { signed_at, headers: {} };
    const ofE = { signed_at, signature: { r: '0x1', s: '0x2', v: 27 } };
    return Promise.resolve((request.venue === 'venue_b' ? ofB : ofE) as never);
  };
  return {
    ...{ sign, createKey: unused, nameKey: unused, storeKey: unused, accountOf: unused, status: unused },
  };
}

beforeEach(async () => {
  received = 0;
  clock = new MovableClock();
  server = createServer((_request, response) => {
    received += 1;
    response.end('{}');
  });
  await listen(server, 0, '127.0.0.1');
  http = new VenueHttp(clock);
});
afterEach(() => {
  http.close();
  server.close();
  clock.forgetTimers();
});

it.each([
  [1_000, 'answered', 1],
  [4_500, 'never-sent', 0],
])('a request whose process was suspended for %i ms before the send is %s', async (millis, what, sent) => {
  suspendedMillis = millis;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const b = new VenueBRequests(url, http, signer(), clock);
  const ofB = await b.signed({
    user_id: 'u',
    method: 'POST',
    path: '/orders',
    body: {},
    operation: 'submit',
  });
  expect([ofB.outcome.what, received]).toEqual([what, sent]);
  const e = new VenueERequests(url, http, signer(), clock);
  const ofE = await e.act({
    ...{ user_id: 'u', by: 'agent' as const, action: {}, nonce: e.nextNonce(), operation: 'submit' as const },
  });
  expect([ofE.outcome.what, received]).toEqual([what, 2 * sent]);
});
