import { expect, it } from '@jest/globals';
import { BOATS } from './boat-document.js';
import { Judge } from './judge.js';
import type { WireRequest } from './wire.js';

function request(target: string): WireRequest {
  return { method: 'POST', target, headers: [], body: Buffer.alloc(0), isIncomplete: false };
}

it('shows each sort of violation once, whatever was measured and whatever path was spoilt', () => {
  const judge = new Judge(BOATS);
  for (const millis of [1_203, 2_711, 4_000, 1_500]) judge.slow(millis, `after ${millis}\nand so on`);
  for (const target of ['/v1/boats/a%zz', '/v1/boats/..', `/v1/boats/${'x'.repeat(50)}`]) {
    const answer = { status: 418, headers: {}, body: '{"error":"teapot"}', millis: 1 };
    judge.answer({ operationId: 'launchBoat', request: request(target) }, answer, 'asked');
  }
  judge.add('memory: gateway-0 holds 31.9 MiB more', 'all of it');
  expect(judge.lines).toEqual([
    'VIOLATION slower than 1000 ms: 1203 ms (4 of this sort)',
    '    after 1203',
    '    and so on',
    '    also slower than 1000 ms: 2711 ms',
    '    also slower than 1000 ms: 4000 ms',
    'VIOLATION not as documented: launchBoat 418: no such answer {"error":"teapot"} (3 of this sort)',
    '    asked',
    'VIOLATION memory: gateway-0 holds 31.9 MiB more',
    '    all of it',
  ]);
  expect(judge.found).toBe(3);
});
