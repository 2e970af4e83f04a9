import type pg from 'pg';
import type { TradeEvent } from '#libs/data/rules/events.js';
import { madeSeq } from '#libs/data/store/trade-table.js';

const MILLIS_PER_SECOND = 1_000;
/** An instrument that no other row of the benchmark uses. */
const INSTRUMENT = 64;

const INSERT = `insert into data.trades (instrument, ts, seq, source_id, price, size, side, maker, taker, tx_hash)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** Inserts trades one per commit, without candles. Resolves with trades per second. */
export async function insertOneByOne(
  client: pg.Client,
  trades: Iterable<TradeEvent>,
  seconds: number,
): Promise<number> {
  const begun = performance.now();
  let done = 0;
  for (const { source_ts, source_id, price, size, side, maker, taker, tx_hash } of trades) {
    const values = [
      INSTRUMENT,
      source_ts,
      madeSeq(source_id),
      source_id,
      price,
      size,
      side,
      maker,
      taker,
      tx_hash,
    ];
    await client.query({ name: 'bench-single-trade', text: INSERT, values });
    done += 1;
    if (performance.now() - begun >= seconds * MILLIS_PER_SECOND) break;
  }
  return (done * MILLIS_PER_SECOND) / (performance.now() - begun);
}
