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

describe('a presence report', () => {
  interface Report {
    readonly what: string;
    readonly standing: WatchedConnection;
  }

  async function watched(hello: object): Promise<{ chat: Chat; reports: Report[]; welcome: Heard }> {
    const reports: Report[] = [];
    const presence = {
      here: (standing: WatchedConnection) => reports.push({ what: 'HERE', standing }),
      gone: (standing: WatchedConnection, how: 'BYE' | 'LOST') => reports.push({ what: how, standing }),
    };
    const chat = new Chat(await openGateway(clock, { ports: { presence } }), 'mia');
    return { chat, reports, welcome: await chat.hello(hello) };
  }

  it('is made for a connection with cancel_on_disconnect, before its welcome', async () => {
    const { chat, reports, welcome } = await watched({ cancel_on_disconnect: { grace_ms: 0 } });
    const standing = { connectionId: welcome.connection_id, account: 'mia', graceMillis: 0 };
    expect(reports).toMatchObject([{ what: 'HERE', standing }]);
    chat.connection.onClosed(1006);
    chat.connection.onClosed(1006);
    expect(reports).toMatchObject([
      { what: 'HERE', standing },
      { what: 'LOST', standing },
    ]);
    expect(reports[1]!.standing.attachment).toBe(reports[0]!.standing.attachment);
  });

  it('is not made for other connections', async () => {
    const { chat, reports } = await watched({});
    chat.connection.onClosed(1000);
    expect(reports).toEqual([]);
  });

  it('is made at once when the server ends the connection, and distinguishes `bye`', async () => {
    const { chat, reports } = await watched({ cancel_on_disconnect: { grace_ms: 5 } });
    expect(await chat.say('bye')).toEqual([{ type: 'ack', cmd_id: 'c2', status: 200, result: {} }]);
    expect(chat.closedWith).toBe(1000);
    chat.connection.onClosed(1000);
    expect(reports.map(({ what }) => what)).toEqual(['HERE', 'BYE']);

    const other = await watched({ cancel_on_disconnect: { grace_ms: 5 } });
    other.chat.connection.onBinary();
    expect(other.reports.map(({ what }) => what)).toEqual(['HERE', 'LOST']);
  });

  it('is made again for a resumed connection, with the setting of its latest hello', async () => {
    const { chat, reports } = await watched({ cancel_on_disconnect: { grace_ms: 5 } });
    clock.pass(10_000);
    const [{ resume_token: token }] = (await chat.tick()) as [Heard];
    const again = await watched({ resume_token: token });
    expect(again.welcome).toMatchObject({ resumed: true });
    const [{ standing }] = again.reports as [Report];
    expect(standing).toMatchObject({
      connectionId: reports[0]!.standing.connectionId,
      graceMillis: undefined,
    });
    expect(standing.attachment).toBeGreaterThan(reports[0]!.standing.attachment);
  });

  it('has a growing attachment even if the clock lags that of the earlier gateway', async () => {
    const tokens = new ResumeTokens([TEST_KEY], resumePoints, TEST_LIFE);
    const attachment = Number(clock.epochNanos() / 1_000n) + 1_000_000;
    const point = { connectionId: '5f0c6d1e-0000-4000-8000-000000000001', attachment, positions: [0, 0, 0] };
    const now = Number(clock.epochNanos() / 1_000_000n);
    const token = tokens.seal(
      { ...point, tokenlessShard: 255, nextNumber: 1, subscriptions: [] },
      'mia',
      now,
    );
    const { reports } = await watched({ resume_token: token });
    expect(reports[0]!.standing.attachment).toBe(attachment + 1);
  });
});
