import type { Pool } from 'pg';
import { candleParts } from '#libs/data/api/candles/candle-parts.js';
import { CandlesController, CompanionCandlesController } from '#libs/data/api/candles/candles.controller.js';
import { SealedCursors } from '#libs/data/api/cursors.js';
import { TradeDesk } from '#libs/data/api/trades/trade-desk.js';
import { TradesController } from '#libs/data/api/trades/trades.controller.js';
import { AlarmTable } from '#libs/data/store/alarm-table.js';
import { CandleReader } from '#libs/data/store/candle-reader.js';
import { CoverageReader } from '#libs/data/store/coverage-reader.js';
import { MarketReader } from '#libs/data/store/market-reader.js';
import { TradeReader } from '#libs/data/store/trade-reader.js';
import { VolumeReader } from '#libs/data/store/volume-reader.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { CALLER, type DataRoutes, openDataRoutes, type ReadReply } from './data-routes.js';

export interface SeriesOptions {
  readonly retentionDays?: number;
}

/** Candles and trades of a real database on a real port, for a caller with all rights. */
export class SeriesListener {
  private constructor(
    private readonly routes: DataRoutes,
    /** Faults of the handlers. */
    readonly faults: unknown[],
    /** What alarms reported about candles. */
    readonly apart: string[],
  ) {}

  /** Replies use the time of this clock. */
  static async open(
    pool: Pool,
    clock: Pick<Clock, 'epochNanos'>,
    { retentionDays }: SeriesOptions = {},
  ): Promise<SeriesListener> {
    const faults: unknown[] = [];
    const apart: string[] = [];
    const onFault = (_what: string, error: unknown): unknown => faults.push(error);
    const of = { markets: new MarketReader(pool), coverage: new CoverageReader(pool, retentionDays) };
    const system = new SystemClock();
    const ofReaders: Clock = {
      epochNanos: () => clock.epochNanos(),
      monotonicNanos: () => system.monotonicNanos(),
      after: (millis, action) => system.after(millis, action),
    };
    const candles = candleParts({
      ...{ ...of, candles: new CandleReader(pool), alarms: new AlarmTable(pool), onFault },
      clock: ofReaders,
      onApart: (_provider, detail) => apart.push(detail),
    });
    const desk = new TradeDesk({ ...of, trades: new TradeReader(pool), volumes: new VolumeReader(pool) });
    const access = { check: () => Promise.resolve() };
    const routes = await openDataRoutes([
      ...[new CandlesController(candles), new CompanionCandlesController(candles)],
      new TradesController({ desk, clock, access, cursors: new SealedCursors('of this test') }),
    ]);
    return new SeriesListener(routes, faults, apart);
  }

  get url(): string {
    return this.routes.url;
  }

  /** The headers of a caller with all rights. */
  get headers(): Readonly<Record<string, string>> {
    return { [CALLER]: 'admin' };
  }

  async close(): Promise<void> {
    await this.routes.close();
  }

  get(path: string, parameters: Readonly<Record<string, string | number | boolean>>): Promise<ReadReply> {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
    return this.routes.get(`${path}?${query.toString()}`, 'admin');
  }

  post(path: string, body: object | string): Promise<ReadReply> {
    return this.routes.send('POST', path, body, 'admin');
  }
}
