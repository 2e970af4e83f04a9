import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { OwnerRequest } from '../../protocol/protocol.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { PresenceReporter } from './presence-reporter.js';

type PresenceRequest = Extract<OwnerRequest, { op: 'presence' }>;

const ACCOUNT = 'mia';
let clock: SteppedClock;
let sent: Map<number, PresenceRequest[]>;
let answers: Map<number, (status: number) => void>;
let presence: PresenceReporter;

/** Owners answer 200 at once, or later as the test decides. */
let isAnswering: boolean;

beforeEach(() => {
  clock = new SteppedClock();
  sent = new Map([0, 1].map((shard) => [shard, []]));
  answers = new Map();
  isAnswering = true;
  presence = new PresenceReporter({
    gateway: 'gateway',
    shards: [0, 1],
    clock,
    ask: (shard, request) => {
      sent.get(shard)?.push(request as PresenceRequest);
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

function connection(connectionId: string, attachment = 1) {
  return { connectionId, account: ACCOUNT, attachment, graceMillis: 500 };
}

function sentTo(shard: number): unknown[] {
  return (sent.get(shard) ?? []).map(({ whole, here, gone }) => ({
    ...(whole ? { whole } : {}),
    here: here.map(({ connection_id: id, attachment }) => `${id}/${attachment}`),
    gone: gone.map(({ connection_id: id, attachment, how }) => `${id}/${attachment} ${how}`),
  }));
}

async function pass(millis: number): Promise<void> {
  clock.pass(millis);
  await settled();
}

describe('the reports of connections to owners', () => {
  it('are not sent while there is no connection', async () => {
    await pass(5_000);
    expect(sentTo(0)).toEqual([]);
  });

  it('go to every owner at once: complete at first, then only changes, and are renewed twice a second', async () => {
    presence.here(connection('a'));
    expect(sent.get(1)).toEqual([
      {
        op: 'presence',
        gateway: 'gateway',
        whole: true,
        here: [{ connection_id: 'a', account: ACCOUNT, attachment: 1, grace_ms: 500 }],
        gone: [],
      },
    ]);
    presence.here(connection('b'));
    await pass(500);
    presence.gone(connection('a'), 'LOST');
    presence.gone(connection('b'), 'BYE');
    await pass(2_000);
    for (const shard of [0, 1]) {
      expect(sentTo(shard)).toEqual([
        { whole: true, here: ['a/1'], gone: [] },
        { here: ['b/1'], gone: [] },
        { here: [], gone: [] },
        { here: [], gone: ['a/1 LOST'] },
        { here: [], gone: ['b/1 BYE'] },
      ]);
    }
    presence.here(connection('c'));
    expect(sentTo(0).at(-1)).toEqual({ whole: true, here: ['c/1'], gone: [] });
  });

  it('include an end only for the latest socket of a connection, and only for watched connections', async () => {
    presence.here(connection('a', 1));
    presence.here(connection('a', 2));
    presence.gone(connection('a', 1), 'LOST');
    presence.gone(connection('z'), 'LOST');
    await settled();
    expect(sentTo(0)).toEqual([
      { whole: true, here: ['a/1'], gone: [] },
      { here: ['a/2'], gone: [] },
    ]);
  });

  it('have no grace for a connection that is not watched any more', () => {
    presence.here({ ...connection('a', 2), graceMillis: undefined });
    expect(sent.get(0)?.[0]?.here).toEqual([{ connection_id: 'a', account: ACCOUNT, attachment: 2 }]);
  });

  it('are sent again completely, with every end, to an owner that did not confirm, and to no other', async () => {
    isAnswering = false;
    presence.here(connection('a'));
    presence.here(connection('b'));
    await settled();
    presence.gone(connection('a'), 'BYE');
    answers.get(0)?.(503);
    answers.get(1)?.(200);
    isAnswering = true;
    await settled();
    await pass(500);
    expect(sentTo(0).at(-1)).toEqual({ whole: true, here: ['b/1'], gone: ['a/1 BYE'] });
    expect(sentTo(1).at(-1)).toEqual({ here: [], gone: [] });
    await pass(500);
    expect(sentTo(0).at(-1)).toEqual({ here: [], gone: [] });
  });

  it('keep ends in order over several failures, even when no connection is left', async () => {
    presence.here(connection('a'));
    presence.here(connection('b'));
    await settled();
    isAnswering = false;
    presence.gone(connection('a'), 'LOST');
    answers.get(0)?.(503);
    await settled();
    presence.gone(connection('b'), 'BYE');
    answers.get(0)?.(503);
    await settled();
    isAnswering = true;
    await pass(500);
    expect(sentTo(0).at(-1)).toEqual({ whole: true, here: [], gone: ['a/1 LOST', 'b/1 BYE'] });
  });

  it('are sent completely at once to an owner that does not know this gateway', async () => {
    presence.here(connection('a'));
    await settled();
    isAnswering = false;
    presence.here(connection('b'));
    isAnswering = true;
    answers.get(0)?.(409);
    await settled();
    expect(sentTo(0).at(-1)).toEqual({ whole: true, here: ['a/1', 'b/1'], gone: [] });
  });

  it('stop when the gateway stops', async () => {
    presence.here(connection('a'));
    presence.stop();
    await pass(5_000);
    expect(sentTo(0)).toHaveLength(1);
  });
});
