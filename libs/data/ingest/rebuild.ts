import type { ClientBase, Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { isCodedError, StartFault } from '#libs/platform/process/start-fault.js';
import { type Clock, pause } from '#libs/platform/time/clock.js';
import { lockNumber, type Projection, type SchemaOf, tablesOf } from '#libs/projecting/projection.js';
import { type InTransaction, Projector, transactionsOf } from '#libs/projecting/projector.js';
import { copyRightsOnTable } from '#libs/projecting/rebuild/copies.js';
import { mayExchange } from '#libs/projecting/rebuild/exchange.js';
import { readRecord } from '../rules/event-codec.js';
import type { StoredMarket } from '../store/market-table.js';
import { TradeTable } from '../store/trade-table.js';
import { dataProjection } from './projection.js';

export interface DataRebuildPorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly clock: Clock;
  /** Called with one line of text for each step. */
  readonly say: (line: string) => void;
}

const SHADOW = 'data_rebuilt';
const shadowOf: SchemaOf = () => SHADOW;
/** The batch size of the projector. */
const BATCH = 5_000;
const ATTEMPTS = 40;
const PAUSE_MILLIS = 250;
/** PostgreSQL codes: lock not available, deadlock detected. */
const BUSY = new Set(['55P03', '40P01']);

/**
 * Rebuilds the tables from the journals into shadow tables while reads and ingest go on, then swaps them in one transaction. Tables
 * that no journal can restore, such as books and identities, stay. Needs the owner of the tables.
 */
export class DataRebuild {
  private readonly projection = dataProjection(() => undefined);
  /** Used for most of the journal: candles are made afterwards, at once. */
  private readonly withoutCandles = dataProjection(() => undefined, 'later');

  constructor(private readonly ports: DataRebuildPorts) {}

  /** Resolves with the number of events that the tables were made from. */
  async run(): Promise<number> {
    const guard = await this.ports.pool.connect();
    try {
      const { rows } = await guard.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
        lockNumber('rebuild of market data'),
      ]);
      if (rows[0]?.mine !== true) throw new StartFault('another rebuild is under way');
      return await this.runAlone();
    } finally {
      guard.release(true);
    }
  }

  private async runAlone(): Promise<number> {
    const { pool, say } = this.ports;
    await withTransaction(pool, 'read committed', (client) => this.makeShadows(client));
    let events = await this.catchUpAll(this.withoutCandles, (shard, head) => {
      say(`journal ${String(shard)}: ${String(head)} records`);
    });
    say('candles');
    await withTransaction(pool, 'read committed', (client) => new TradeTable(shadowOf).makeCandles(client));
    // Applies what arrived meanwhile, so that little is left for the exchange, which blocks everything.
    events += await this.catchUpAll(this.projection);
    for (const { name } of tablesOf(this.projection)) await pool.query(`analyze ${SHADOW}.${name}`);
    events += await this.exchange();
    await pool.query(`drop schema ${SHADOW} cascade`);
    say('exchanged');
    return events;
  }

  private async makeShadows(client: ClientBase): Promise<void> {
    await client.query(`drop schema if exists ${SHADOW} cascade; create schema ${SHADOW}`);
    for (const { name } of tablesOf(this.projection)) {
      const key = PARTITIONED.get(name);
      const parted = key === undefined ? '' : ` partition by range (${key})`;
      await client.query(`create table ${SHADOW}.${name} (like data.${name} including all)${parted}`);
      await copyRightsOnTable(client, `data.${name}`, `${SHADOW}.${name}`);
    }
  }

  private async catchUpAll(
    projection: Projection<StoredMarket>,
    onJournal: (shard: number, head: number) => void = () => undefined,
  ): Promise<number> {
    const { pool, reader } = this.ports;
    let events = 0;
    for (const [shard, head] of [...(await reader.heads())].sort(([one], [other]) => one - other)) {
      onJournal(shard, head);
      events += await this.catchUp(projection, transactionsOf(pool), { shard, to: head });
    }
    return events;
  }

  private async catchUp(
    projection: Projection<StoredMarket>,
    inTransaction: InTransaction,
    { shard, to }: { readonly shard: number; readonly to: number },
  ): Promise<number> {
    const projector = new Projector(projection, { inTransaction, clock: this.ports.clock }, shadowOf);
    let events = 0;
    let position = await inTransaction((client) => projector.offsets.position(client, shard));
    while (position < to) {
      const entries = await this.ports.reader.read(shard, position + 1, Math.min(BATCH, to - position));
      if (entries.length === 0) throw new StartFault(`journal ${String(shard)} ends at ${String(position)}`);
      position = await projector.take(shard, entries);
      events += entries.filter(({ kind, payload }) => kind === 'event' && !isCursor(payload)).length;
    }
    return events;
  }

  /** Waits briefly and retries often: a query that waits for locks on all tables blocks every query after it. */
  private async exchange(): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const events = await withTransaction(this.ports.pool, 'read committed', (client) =>
          this.exchangeBy(client),
        );
        if (events !== undefined) return events;
        if (attempt === 1) this.ports.say('waits for a backup that is being made');
      } catch (error) {
        if (!isCodedError(error) || !BUSY.has(error.code) || attempt === ATTEMPTS) throw error;
      }
      await pause(this.ports.clock, PAUSE_MILLIS);
    }
  }

  /** The first lock stops every projector, so little remains to be applied. Undefined while a backup reads all tables. */
  private async exchangeBy(client: ClientBase): Promise<number | undefined> {
    await client.query(`set local lock_timeout = '1s'`);
    if (!(await mayExchange(client))) return undefined;
    await client.query('lock table data.offsets in access exclusive mode');
    const { rows } = await client.query<{ shard: number; sequence: number }>(
      'select shard, sequence from data.offsets',
    );
    let events = 0;
    for (const { shard, sequence } of rows)
      events += await this.catchUp(this.projection, (work) => work(client), { shard, to: sequence });
    const names = tablesOf(this.projection).map(({ name }) => name);
    await client.query(
      `lock table ${names.map((name) => `data.${name}`).join(', ')} in access exclusive mode`,
    );
    await client.query(`drop table ${names.map((name) => `data.${name}`).join(', ')}`);
    for (const name of await tablesIn(client, SHADOW)) {
      await client.query(`alter table ${SHADOW}.${name} set schema data`);
    }
    return events;
  }
}

/** Checks for the word first, so that most records need no parsing. */
function isCursor(payload: string): boolean {
  return payload.includes('"CURSOR"') && readRecord(payload).type === 'CURSOR';
}

/** Partitioned tables, and the column that their months are of. */
const PARTITIONED: ReadonlyMap<string, string> = new Map([
  ['trades', 'ts'],
  ['candles', 'bucket'],
]);

/** Includes the partitions of months. */
async function tablesIn(client: ClientBase, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = $1 order by 1`,
    [schema],
  );
  return rows.map(({ name }) => name);
}
