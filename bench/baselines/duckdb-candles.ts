import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { Pool } from 'pg';

const AT_ONCE = 50_000;

/** Computes hour candles from trades with a column store, in this process. */
export class DuckDbCandles {
  private constructor(private readonly connection: DuckDBConnection) {}

  /** Loads all trades of an instrument from the database. */
  static async copyOf(pool: Pool, instrument: number): Promise<DuckDbCandles> {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    await connection.run(
      'create table trades (instrument bigint, ts bigint, seq bigint, price integer, size bigint)',
    );
    const appender = await connection.createAppender('trades');
    for (let after = Number.MIN_SAFE_INTEGER; ;) {
      const { rows } = await pool.query<{ ts: number; seq: number; price: number; size: number }>(
        'select ts, seq, price, size from data.trades where instrument = $1 and ts > $2 order by ts limit $3',
        [instrument, after, AT_ONCE],
      );
      for (const { ts, seq, price, size } of rows) {
        appender.appendBigInt(BigInt(instrument));
        appender.appendBigInt(BigInt(ts));
        appender.appendBigInt(BigInt(seq));
        appender.appendInteger(price);
        appender.appendBigInt(BigInt(size));
        appender.endRow();
      }
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.ts;
    }
    appender.closeSync();
    return new DuckDbCandles(connection);
  }

  /** The hour candles of a window, as rows. */
  async hours(instrument: number, start: number, end: number): Promise<readonly unknown[][]> {
    const reader = await this.connection.runAndReadAll(
      `select ts - ts % 3600000000 as bucket, arg_min(price, (ts, seq)), max(price), min(price), arg_max(price, (ts, seq)), sum(size)::bigint
       from trades where instrument = ${instrument} and ts >= ${start} and ts < ${end} group by 1 order by 1`,
    );
    return reader.getRows();
  }

  close(): void {
    this.connection.closeSync();
  }
}
