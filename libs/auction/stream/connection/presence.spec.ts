import { resumePoints } from '../resume-point.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Chat, openGateway, type Heard } from '../fixtures/chat.js';
import { SteppedClock } from '#libs/socket/fixtures/stepped-clock.js';
import { TEST_KEY, TEST_LIFE } from '../fixtures/test-gateway.js';
import type { WatchedConnection } from '../ports.js';
import { ResumeTokens } from '#libs/socket/resume-token.js';

let clock: SteppedClock;

beforeEach(() => {
  clock = new SteppedClock();
});

describe('who is here', () => {
  interface Told {
    readonly what: string;
    readonly standing: WatchedConnection;
  }

  async function watched(hello: object): Promise<{ chat: Chat; told: Told[]; welcome: Heard }> {
    const told: Told[] = [];
    const presence = {
      here: (standing: WatchedConnection) => told.push({ what: 'HERE', standing }),
      gone: (standing: WatchedConnection, how: 'BYE' | 'LOST') => told.push({ what: how, standing }),
    };
    const chat = new Chat(await openGateway(clock, { ports: { presence } }), 'mia');
    return { chat, told, welcome: await chat.hello(hello) };
  }

  it('is told of whoever wants its quotes to go with it, before it is welcomed', async () => {
    const { chat, told, welcome } = await watched({ cancel_on_disconnect: { grace_ms: 0 } });
    const standing = { connectionId: welcome.connection_id, account: 'mia', graceMillis: 0 };
    expect(told).toMatchObject([{ what: 'HERE', standing }]);
    chat.connection.onClosed(1006);
    chat.connection.onClosed(1006);
    expect(told).toMatchObject([
      { what: 'HERE', standing },
      { what: 'LOST', standing },
    ]);
    expect(told[1]!.standing.attachment).toBe(told[0]!.standing.attachment);
  });

  it('is not told of others', async () => {
    const { chat, told } = await watched({});
    chat.connection.onClosed(1000);
    expect(told).toEqual([]);
  });

  it('is told at once when we end the connection, and of a farewell as such', async () => {
    const { chat, told } = await watched({ cancel_on_disconnect: { grace_ms: 5 } });
    expect(await chat.say('bye')).toEqual([{ type: 'ack', cmd_id: 'c2', status: 200, result: {} }]);
    expect(chat.closedWith).toBe(1000);
    chat.connection.onClosed(1000);
    expect(told.map(({ what }) => what)).toEqual(['HERE', 'BYE']);

    const other = await watched({ cancel_on_disconnect: { grace_ms: 5 } });
    other.chat.connection.onBinary();
    expect(other.told.map(({ what }) => what)).toEqual(['HERE', 'LOST']);
  });

  it('is told anew of a connection that goes on, with what its latest hello says', async () => {
    const { chat, told } = await watched({ cancel_on_disconnect: { grace_ms: 5 } });
    clock.pass(10_000);
    const [{ resume_token: token }] = (await chat.tick()) as [Heard];
    const again = await watched({ resume_token: token });
    expect(again.welcome).toMatchObject({ resumed: true });
    const [{ standing }] = again.told as [Told];
    expect(standing).toMatchObject({ connectionId: told[0]!.standing.connectionId, graceMillis: undefined });
    expect(standing.attachment).toBeGreaterThan(told[0]!.standing.attachment);
  });

  it('counts sockets up even where the clock is behind that of the gateway before', async () => {
    const tokens = new ResumeTokens([TEST_KEY], resumePoints, TEST_LIFE);
    const attachment = Number(clock.epochNanos() / 1_000n) + 1_000_000;
    const point = { connectionId: '5f0c6d1e-0000-4000-8000-000000000001', attachment, positions: [0, 0, 0] };
    const now = Number(clock.epochNanos() / 1_000_000n);
    const token = tokens.seal(
      { ...point, tokenlessShard: 255, nextNumber: 1, subscriptions: [] },
      'mia',
      now,
    );
    const { told } = await watched({ resume_token: token });
    expect(told[0]!.standing.attachment).toBe(attachment + 1);
  });
});
