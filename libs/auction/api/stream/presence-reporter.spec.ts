import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { PresenceReporter } from './presence-reporter.js';

type Told = Extract<OwnerRequest, { op: 'presence' }>;

const ACCOUNT = 'mia';
let clock: SteppedClock;
let told: Map<number, Told[]>;
let answers: Map<number, (status: number) => void>;
let presence: PresenceReporter;

/** Owners answer when and as the test has them answer; until then 200, at once. */
let isAnswering: boolean;

beforeEach(() => {
  clock = new SteppedClock();
  told = new Map([0, 1].map((shard) => [shard, []]));
  answers = new Map();
  isAnswering = true;
  presence = new PresenceReporter({
    gateway: 'gateway',
    shards: [0, 1],
    clock,
    ask: (shard, request) => {
      told.get(shard)?.push(request as Told);
      if (isAnswering) return Promise.resolve({ status: 200, body: '' });
      return new Promise<LinkReply>((resolve) => {
        answers.set(shard, (status) => {
          resolve({ status, body: '' });
        });
      });
    },
  });
  presence.start();
});

function standing(connectionId: string, attachment = 1) {
  return { connectionId, account: ACCOUNT, attachment, graceMillis: 500 };
}

function heardBy(shard: number): unknown[] {
  return (told.get(shard) ?? []).map(({ whole, here, gone }) => ({
    ...(whole ? { whole } : {}),
    here: here.map(({ connection_id: id, attachment }) => `${id}/${attachment}`),
    gone: gone.map(({ connection_id: id, attachment, how }) => `${id}/${attachment} ${how}`),
  }));
}

async function pass(millis: number): Promise<void> {
  clock.pass(millis);
  await settled();
}

describe('what owners are told of who is here', () => {
  it('is nothing while nobody is', async () => {
    await pass(5_000);
    expect(heardBy(0)).toEqual([]);
  });

  it('goes to every owner at once, whole at first, then what is new, and is renewed twice a second', async () => {
    presence.here(standing('a'));
    expect(told.get(1)).toEqual([
      {
        op: 'presence',
        gateway: 'gateway',
        whole: true,
        here: [{ connection_id: 'a', account: ACCOUNT, attachment: 1, grace_ms: 500 }],
        gone: [],
      },
    ]);
    presence.here(standing('b'));
    await pass(500);
    presence.gone(standing('a'), 'LOST');
    presence.gone(standing('b'), 'BYE');
    await pass(2_000);
    for (const shard of [0, 1]) {
      expect(heardBy(shard)).toEqual([
        { whole: true, here: ['a/1'], gone: [] },
        { here: ['b/1'], gone: [] },
        { here: [], gone: [] },
        { here: [], gone: ['a/1 LOST'] },
        { here: [], gone: ['b/1 BYE'] },
      ]);
    }
    presence.here(standing('c'));
    expect(heardBy(0).at(-1)).toEqual({ whole: true, here: ['c/1'], gone: [] });
  });

  it('is the end of the latest socket of a connection only, and of no connection that nobody watches over', async () => {
    presence.here(standing('a', 1));
    presence.here(standing('a', 2));
    presence.gone(standing('a', 1), 'LOST');
    presence.gone(standing('z'), 'LOST');
    await settled();
    expect(heardBy(0)).toEqual([
      { whole: true, here: ['a/1'], gone: [] },
      { here: ['a/2'], gone: [] },
    ]);
  });

  it('says without a time that a connection is watched over no more', () => {
    presence.here({ ...standing('a', 2), graceMillis: undefined });
    expect(told.get(0)?.[0]?.here).toEqual([{ connection_id: 'a', account: ACCOUNT, attachment: 2 }]);
  });

  it('is told anew, all of it and every end, to an owner that did not confirm it, and to no other', async () => {
    isAnswering = false;
    presence.here(standing('a'));
    presence.here(standing('b'));
    await settled();
    presence.gone(standing('a'), 'BYE');
    answers.get(0)?.(503);
    answers.get(1)?.(200);
    isAnswering = true;
    await settled();
    await pass(500);
    expect(heardBy(0).at(-1)).toEqual({ whole: true, here: ['b/1'], gone: ['a/1 BYE'] });
    expect(heardBy(1).at(-1)).toEqual({ here: [], gone: [] });
    await pass(500);
    expect(heardBy(0).at(-1)).toEqual({ here: [], gone: [] });
  });

  it('keeps ends in their order over several failures, also when nobody is here any more', async () => {
    presence.here(standing('a'));
    presence.here(standing('b'));
    await settled();
    isAnswering = false;
    presence.gone(standing('a'), 'LOST');
    answers.get(0)?.(503);
    await settled();
    presence.gone(standing('b'), 'BYE');
    answers.get(0)?.(503);
    await settled();
    isAnswering = true;
    await pass(500);
    expect(heardBy(0).at(-1)).toEqual({ whole: true, here: [], gone: ['a/1 LOST', 'b/1 BYE'] });
  });

  it('is told whole at once to an owner that does not know this gateway', async () => {
    presence.here(standing('a'));
    await settled();
    isAnswering = false;
    presence.here(standing('b'));
    isAnswering = true;
    answers.get(0)?.(409);
    await settled();
    expect(heardBy(0).at(-1)).toEqual({ whole: true, here: ['a/1', 'b/1'], gone: [] });
  });

  it('ends when the gateway does', async () => {
    presence.here(standing('a'));
    presence.stop();
    await pass(5_000);
    expect(heardBy(0)).toHaveLength(1);
  });
});
