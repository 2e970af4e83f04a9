import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { quickStreamFloor, type StreamFloor } from '../stream-floor.js';

jest.setTimeout(40_000);

let floor: StreamFloor;

beforeAll(async () => {
  floor = await quickStreamFloor();
}, 90_000);

afterAll(() => floor.end());

it('a gateway that is stopping sends goaway, closes with 4503, and accepts no new streams', async () => {
  const [first, idle] = [
    await floor.listen('load-maker-2', {}, { gateway: 1 }),
    await floor.listen('load-maker-2'),
  ];
  await first.subscribe();
  const pid = floor.cluster.kill('gateway-1', 'SIGTERM');
  expect(await first.untilType('goaway')).toEqual({ type: 'goaway', reason: expect.stringMatching(/./) });
  await expect(floor.listen('load-maker-2', {}, { gateway: 1 })).rejects.toMatchObject({
    status: 503,
    text: '{"error":"draining"}',
  });
  // A moment to finish running commands.
  expect(await first.ask('ping')).toMatchObject({ type: 'pong' });
  expect((await first.untilClosed()).code).toBe(4503);
  expect(idle.closed).toBeUndefined();
  const elsewhere = await floor.goesOn('load-maker-2', first, { gateway: 0 });
  expect(elsewhere.frames[0]).toMatchObject({ resumed: true });
  await floor.cluster.restartOf('gateway-1', pid);
  const back = await floor.goesOn('load-maker-2', elsewhere, { gateway: 1 });
  expect(back.frames[0]).toMatchObject({ resumed: true });
});
