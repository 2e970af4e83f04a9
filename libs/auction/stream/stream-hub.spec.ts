import type { Caller } from '#libs/edge/endpoint.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AuctionWorld, journalOfTexts } from './fixtures/auction-world.js';
import { settled, SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { type GatewayOptions, sessionOf, TestGateway } from './fixtures/test-gateway.js';
import { TestSocket } from '#libs/socket/fixtures/test-socket.js';
import type { SessionOutcome } from '#libs/socket/session-guard.js';
import { openStreamHub, type StreamHub } from './stream-hub.js';

const CONNECTIONS = 2;
let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

async function opened(options: GatewayOptions = {}): Promise<{ hub: StreamHub; gateway: TestGateway }> {
  const fromTomorrow = JSON.stringify({ type: 'FROM_TOMORROW', version: 1, at: '', data: {} });
  const world = new AuctionWorld([journalOfTexts(0, [fromTomorrow])]);
  const gateway = new TestGateway(world, clock, options);
  await gateway.start();
  world.write(0, Infinity);
  const hub = openStreamHub(gateway.ports, CONNECTIONS);
  hub.start();
  return { hub, gateway };
}

async function connected(
  hub: StreamHub,
  account: string,
): Promise<[TestSocket, ReturnType<StreamHub['open']>]> {
  const socket = new TestSocket();
  const connection = hub.open(socket, { token: account, session: sessionOf(account) });
  connection.onText('{"type":"hello","cmd_id":"a"}');
  await settled();
  socket.read();
  return [socket, connection];
}

async function pass(millis: number): Promise<void> {
  for (let passed = 0; passed < millis; passed += 50) {
    clock.pass(50);
    await settled();
  }
}

function lastOf(socket: TestSocket): unknown {
  const text = socket.waiting.at(-1)?.text;
  return text === undefined ? undefined : JSON.parse(text);
}

describe('the connections of a gateway', () => {
  it('are counted by account, and one that ends makes room for another', async () => {
    const { hub } = await opened();
    const [[, first]] = [await connected(hub, 'mia'), await connected(hub, 'mia')];
    expect([hub.size, hub.hasRoomFor('mia'), hub.hasRoomFor('max')]).toEqual([2, false, true]);
    hub.closed(first, 1006);
    expect([hub.size, hub.hasRoomFor('mia')]).toEqual([1, true]);
  });

  it('have their sessions checked several times a second', async () => {
    const revoked = new Set<string>();
    const checkOf = (token: string) => (): SessionOutcome<Caller> =>
      revoked.has(token) ? 'unauthorized' : sessionOf(token);
    const { hub } = await opened({ ports: { sessions: { checkOf } } });
    const [socket] = await connected(hub, 'mia');
    await pass(1_000);
    expect(socket.closedWith).toBeUndefined();
    revoked.add('mia');
    await pass(250);
    expect(socket.closedWith).toBe(4401);
  });

  it('are not closed for silence while the gateway itself was suspended', async () => {
    const { hub } = await opened();
    const [socket] = await connected(hub, 'mia');
    await pass(20_000);
    clock.sleep(120_000);
    await pass(9_500);
    expect(socket.closedWith).toBeUndefined();
    await pass(1_000);
    expect(socket.closedWith).toBe(4408);
  });

  it('are not affected by one that fails', async () => {
    const broken = (token: string): ReturnType<typeof sessionOf> => {
      if (token === 'max') throw new Error('no');
      return sessionOf(token);
    };
    let check = (token: string): ReturnType<typeof sessionOf> => sessionOf(token);
    const { hub, gateway } = await opened({
      limits: { heartbeatMillis: 250 },
      ports: { sessions: { checkOf: (token) => () => check(token) } },
    });
    const [[bad], [good]] = [await connected(hub, 'max'), await connected(hub, 'mia')];
    check = broken;
    await pass(250);
    expect([bad.closedWith, good.closedWith]).toEqual([4503, undefined]);
    expect(lastOf(good)).toMatchObject({ type: 'heartbeat' });
    expect(gateway.faults).toHaveLength(1);
  });

  it('get goaway when the gateway drains, and are cut when the time is over', async () => {
    const { hub } = await opened();
    const [[leaving, connection], [staying]] = [await connected(hub, 'mia'), await connected(hub, 'max')];
    const drained = hub.drain(1_000);
    expect(hub.isDraining).toBe(true);
    expect(lastOf(leaving)).toEqual({ type: 'goaway', reason: 'DRAINING' });
    connection.onText('{"type":"bye","cmd_id":"b"}');
    await settled();
    hub.closed(connection, 1000);
    await pass(950);
    expect(staying.closedWith).toBeUndefined();
    await pass(100);
    expect([leaving.closedWith, staying.closedWith, staying.isCut]).toEqual([1000, 4503, false]);
    await pass(1_000);
    await drained;
    expect([leaving.isCut, staying.isCut]).toEqual([false, true]);
  });

  it('are not cut and not waited for once they have answered the close', async () => {
    const { hub } = await opened();
    const [socket, connection] = await connected(hub, 'mia');
    const drained = hub.drain(500);
    await pass(550);
    expect(socket.closedWith).toBe(4503);
    hub.closed(connection, 4503);
    await pass(50);
    await drained;
    expect(socket.isCut).toBe(false);
  });

  it('get the answers to earlier commands during a drain, and later commands are not read', async () => {
    const answers: (() => void)[] = [];
    const run = (): Promise<{ status: number; body: string }> =>
      new Promise((resolve) => answers.push(() => resolve({ status: 200, body: '{}' })));
    const { hub } = await opened({ ports: { commands: { run } } });
    const [[socket, connection]] = [await connected(hub, 'mia')];
    const say = (id: string): void => {
      connection.onText(`{"type":"quote.withdraw_all","cmd_id":"${id}","idempotency_key":"${id}"}`);
    };
    say('early');
    const drained = hub.drain(500);
    await pass(600);
    say('late');
    await pass(100);
    expect([socket.closedWith, answers.length]).toEqual([undefined, 1]);
    answers[0]!();
    await pass(50);
    expect(socket.closedWith).toBe(4503);
    hub.closed(connection, 4503);
    await pass(50);
    await drained;
    const texts = socket.waiting.map(({ text }) => JSON.parse(text) as { cmd_id?: string });
    expect(texts.flatMap(({ cmd_id: id }) => id ?? [])).toContain('early');
  });

  it('are not waited for longer than the limit, however long an answer takes', async () => {
    const run = (): Promise<never> => new Promise(() => undefined);
    const { hub } = await opened({ ports: { commands: { run } } });
    const [socket, connection] = await connected(hub, 'mia');
    connection.onText('{"type":"quote.withdraw_all","cmd_id":"x","idempotency_key":"x"}');
    const drained = hub.drain(500);
    await pass(3_700);
    expect(socket.closedWith).toBe(4503);
    await pass(1_000);
    await drained;
    expect(socket.isCut).toBe(true);
  });

  it('get goaway once when a journal can no longer be followed, and stay open', async () => {
    const { hub, gateway } = await opened();
    const [socket] = await connected(hub, 'mia');
    await pass(500);
    expect([socket.waiting, hub.isBlind]).toEqual([[], false]);
    await gateway.takeInAll();
    await pass(1_000);
    expect(socket.waiting).toHaveLength(1);
    expect(lastOf(socket)).toEqual({ type: 'goaway', reason: 'SHARD_STOPPED' });
    expect([socket.closedWith, hub.isBlind]).toEqual([undefined, true]);
  });
});
