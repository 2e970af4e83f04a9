import { alternating } from '../alternating.js';
import type { Ground } from '../ground/ground.js';
import { SideProcess } from '../ground/side-process.js';
import { closedLoop } from '../load/closed-loop.js';
import { HttpConnection } from '../load/http-connection.js';
import { asFastAs, type RowOutcome, type Row, type Settings } from '../row.js';

const CONNECTIONS = 16;
const AUCTIONS = 16;
const AUDIENCE = 8;

/** The view of a live auction: through the gateway, from its owner. */
export const get: Row = {
  name: 'get',
  title: 'GET auction, 16 connections',
  async run(ground: Ground, settings: Settings): Promise<RowOutcome> {
    const floor = await ground.floor();
    const auctions = await floor.openAuctions(AUCTIONS, AUDIENCE);
    const calls = auctions.map(({ id, makers }) => {
      const token = floor.makers[makers[0] ?? 0]?.token ?? '';
      return {
        method: 'GET' as const,
        path: `/v1/auctions/${id}`,
        headers: { authorization: `Bearer ${token}` },
      };
    });
    const first = calls[0];
    if (first === undefined) throw new Error('there is no auction to look at');
    const { body } = await floor.http().send(first);
    const upstream = await SideProcess.start('bare-upstream', [body]);
    const forwarder = await SideProcess.start('express-forwarder', [upstream.url]);
    const measure = (url: string): (() => Promise<number>) => {
      const connections = Array.from({ length: CONNECTIONS }, () => new HttpConnection(url));
      return () =>
        closedLoop(CONNECTIONS, settings.seconds, async (caller) => {
          const answer = await connections[caller]?.send(calls[caller % calls.length] ?? first);
          if (answer?.status !== 200)
            throw new Error(`answered ${answer?.status ?? ''} ${answer?.body ?? ''}`);
        });
    };
    const { medians, runs } = await alternating(
      { forwarded: measure(forwarder.url), reads: measure(floor.gatewayUrl) },
      settings,
    );
    await forwarder.stop();
    await upstream.stop();
    const baseline = { name: 'Express route that forwards to node:http', measured: medians.forwarded };
    const check = asFastAs('reads of a live auction', '/s', medians.reads, baseline, {
      minimum: 0.8,
      goal: 1.5,
    });
    return { checks: [check], details: { runs, bytes: body.length } };
  },
};
