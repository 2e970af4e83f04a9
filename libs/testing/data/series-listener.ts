import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { CandleDesk } from '#libs/data/api/candles/candle-desk.js';
import { CandleRebuilds } from '#libs/data/api/candles/candle-rebuilds.js';
import { CandlesController, CompanionCandlesController } from '#libs/data/api/candles/candles.controller.js';
import { DataCaller } from '#libs/data/api/callers.js';
import { SealedCursors } from '#libs/data/api/cursors.js';
import { dataDialect } from '#libs/data/api/dialect.js';
import { TradeDesk } from '#libs/data/api/trades/trade-desk.js';
import { TradesController } from '#libs/data/api/trades/trades.controller.js';
import { AlarmTable } from '#libs/data/store/alarm-table.js';
import { CandleReader } from '#libs/data/store/candle-reader.js';
import { CoverageReader } from '#libs/data/store/coverage-reader.js';
import { MarketReader } from '#libs/data/store/market-reader.js';
import { TradeReader } from '#libs/data/store/trade-reader.js';
import { VolumeReader } from '#libs/data/store/volume-reader.js';
import { EdgeListener } from '#libs/edge/server/edge-listener.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';

export interface SeriesOptions {
  readonly retentionDays?: number;
}

/** Candles and trades of a real database on a real port, to a caller who may everything. */
export class SeriesListener {
  readonly faults: unknown[] = [];
  readonly apart: string[] = [];
  private readonly listener: EdgeListener;
  private port = 0;

  private constructor(pool: Pool, clock: Pick<Clock, 'epochNanos'>, { retentionDays }: SeriesOptions) {
    this.listener = new EdgeListener({
      dialect: dataDialect({
        callers: {
          callerOf: () => new DataCaller({ userId: '', kind: 'admin', isInvited: true }),
          isAdmin: () => true,
        },
        addressOf: () => '127.0.0.1',
        counter: { count: () => undefined },
        freshness: { note: () => undefined, headersFor: () => ({}) },
      }),
      ...{ authenticator: { authenticate: () => 'unauthorized' }, newRequestId: randomUUID },
      clock: new SystemClock(),
      onFault: (error) => this.faults.push(error),
    });
    const coverage = new CoverageReader(pool, retentionDays);
    const markets = new MarketReader(pool);
    const candles = new CandleReader(pool);
    const onFault = (_what: string, error: unknown): unknown => this.faults.push(error);
    const rebuilds = new CandleRebuilds({
      ...{ candles, alarms: new AlarmTable(pool), onFault },
      onApart: (detail) => this.apart.push(detail),
    });
    const ofCandles = { markets, clock, onFault, desk: new CandleDesk({ candles, coverage, rebuilds }) };
    const desk = new TradeDesk({
      markets,
      coverage,
      trades: new TradeReader(pool),
      volumes: new VolumeReader(pool),
    });
    const access = { check: () => Promise.resolve() };
    this.listener.mount([
      ...[new CandlesController(ofCandles), new CompanionCandlesController(ofCandles)],
      new TradesController({ desk, clock, access, cursors: new SealedCursors('of this test') }),
    ]);
  }

  /** What readers are told is of this clock. */
  static async open(
    pool: Pool,
    clock: Pick<Clock, 'epochNanos'>,
    options: SeriesOptions = {},
  ): Promise<SeriesListener> {
    const opened = new SeriesListener(pool, clock, options);
    await opened.listener.listen(0, '127.0.0.1');
    const address = opened.listener.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('it listens nowhere');
    opened.port = address.port;
    return opened;
  }

  async close(): Promise<void> {
    this.listener.server.closeAllConnections();
    await this.listener.close();
  }

  get(path: string, parameters: Readonly<Record<string, string | number | boolean>>): Promise<Response> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    return fetch(`http://127.0.0.1:${String(this.port)}${path}?${query.toString()}`);
  }

  post(path: string, body: object | string): Promise<Response> {
    return fetch(`http://127.0.0.1:${String(this.port)}${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }
}
