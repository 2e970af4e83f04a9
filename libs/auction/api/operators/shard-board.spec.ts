import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LinkReply } from '#libs/link/link-protocol.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { MovableClock } from '#libs/testing/movable-clock.js';
import { OwnerProbe } from './owner-probe.js';
import { ShardBoard, type ShardRow } from './shard-board.js';

const KNOWN = { epoch: 3, journal_head: 40, projection_lag_events: 2 };
const UNAVAILABLE: LinkReply = { status: 503, body: '{"error":"auction_owner_unavailable"}' };
const never = <T>(): Promise<T> => new Promise(() => undefined);

let listener: Server | undefined;
afterEach(() => {
  listener?.closeAllConnections();
  listener?.close();
});

/** An owner's listener that answers `/readyz` with this condition, or not at all. */
async function listening(condition: string | undefined): Promise<string> {
  const server = createServer((_request, response) => {
    if (condition !== undefined) response.writeHead(503).end(JSON.stringify({ status: condition }));
  });
  listener = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The row of the only shard. */
async function rowFor(
  reply: Promise<LinkReply>,
  url: string,
  {
    known = Promise.resolve(KNOWN),
    clock = new SystemClock(),
  }: { known?: Promise<typeof KNOWN>; clock?: Clock } = {},
): Promise<ShardRow> {
  const board = new ShardBoard({
    owners: { shards: [0], ask: () => reply },
    probe: new OwnerProbe([url]),
    book: { known: () => known },
    clock,
  });
  const [row] = await board.rows();
  return row!;
}

describe('a row of a shard', () => {
  it("shows the documented fields of the owner's answer, and no others", async () => {
    const ownerStatus = { shard: 0, state: 'DRAINING', epoch: 4, active_auctions: 1, policy_version: 9 };
    const row = await rowFor(
      Promise.resolve({ status: 200, body: JSON.stringify(ownerStatus) }),
      'http://127.0.0.1:9',
    );
    expect(row).toEqual({ shard: 0, state: 'DRAINING', epoch: 4, active_auctions: 1 });
  });

  it.each([
    ['recovering', 'RECOVERING'],
    ['ready', 'RECOVERING'],
    ['draining', 'DRAINING'],
    ['journal_failed', 'UNREACHABLE'],
    [undefined, 'UNREACHABLE'],
  ])(
    'shows an owner without a link whose condition is %s as %s, with what the database knows',
    async (condition, state) => {
      const row = await rowFor(Promise.resolve(UNAVAILABLE), await listening(condition));
      expect(row).toEqual({ shard: 0, state, ...KNOWN });
    },
  );

  it('comes within a second when owner, listener and database are all frozen', async () => {
    const clock = new MovableClock();
    let row: ShardRow | undefined;
    const answered = rowFor(never(), await listening(undefined), { known: never(), clock }).then((answer) => {
      row = answer;
    });
    for (let millis = 0; millis < 1_000 && row === undefined; millis += 100) {
      clock.leap(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(row).toEqual({ shard: 0, state: 'UNREACHABLE' });
    await answered;
  });

  it('is the owner’s answer if it is only slow', async () => {
    const slow = new Promise<LinkReply>((resolve) => {
      setTimeout(resolve, 400, { status: 200, body: '{"state":"ACTIVE"}' });
    });
    const row = await rowFor(slow, 'http://127.0.0.1:9');
    expect(row).toEqual({ shard: 0, state: 'ACTIVE' });
  });
});
