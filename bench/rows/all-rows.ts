import type { Row } from '../row.js';
import { cancelAll } from './cancel-all.js';
import { cellRecovery } from './cell-recovery.js';
import { completed } from './completed.js';
import { dataCandles } from './data-candles.js';
import { dataGet } from './data-get.js';
import { dataIngest } from './data-ingest.js';
import { dataLag } from './data-lag.js';
import { dataRebuild } from './data-rebuild.js';
import { dataTrades } from './data-trades.js';
import { fanOut } from './fan-out.js';
import { get } from './get.js';
import { http } from './http.js';
import { idle } from './idle.js';
import { journal } from './journal.js';
import { kafka } from './kafka.js';
import { kafkaQuotes } from './kafka-quotes.js';
import { lag } from './lag.js';
import { latency } from './latency.js';
import { matching } from './matching.js';
import { memory } from './memory.js';
import { oneAccount } from './one-account.js';
import { orderAcks } from './order-acks.js';
import { orderFill } from './order-fill.js';
import { orderLatency } from './order-latency.js';
import { orderPage } from './order-page.js';
import { projection } from './projection.js';
import { push } from './push.js';
import { quotes } from './quotes.js';
import { recovery } from './recovery.js';
import { replay } from './replay.js';
import { reserve } from './reserve.js';

/** The rows that `orders` selects. */
const ORDER_ROWS: readonly Row[] = [
  orderAcks,
  orderLatency,
  orderFill,
  matching,
  cancelAll,
  orderPage,
  cellRecovery,
];

/** The rows that `data` selects. */
const DATA_ROWS: readonly Row[] = [dataIngest, dataRebuild, dataCandles, dataTrades, dataGet, dataLag];

/** Names that select several rows. */
export const ROW_GROUPS: ReadonlyMap<string, readonly Row[]> = new Map([
  ['orders', ORDER_ROWS],
  ['data', DATA_ROWS],
]);

/** In the order of measurement: an idle cluster first; rows that fill disks and memory last. */
export const ROWS: readonly Row[] = [
  idle,
  journal,
  kafka,
  replay,
  reserve,
  projection,
  quotes,
  oneAccount,
  latency,
  kafkaQuotes,
  lag,
  http,
  get,
  fanOut,
  push,
  memory,
  recovery,
  completed,
  ...ORDER_ROWS,
  ...DATA_ROWS,
];
