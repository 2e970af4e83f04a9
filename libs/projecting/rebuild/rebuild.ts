import type { ClientBase, Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { isCodedError, StartFault } from '#libs/platform/process/start-fault.js';
import { lockNumber, schemasOf, type Projection, type SchemaOf } from '../projection.js';
import { Projector, transactionsOf, type InTransaction } from '../projector.js';
import { createCopies, dropCopies } from './copies.js';
import { exchangeSchemas, exchangeShard, mayExchange } from './exchange.js';

export interface RebuildPorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly clock: Clock;
  /** Receives a line for each step. */
  readonly say: (line: string) => void;
}

const copyOf: SchemaOf = (schema) => `${schema}_rebuilt`;
const ATTEMPTS = 20;
const PAUSE_MILLIS = 500;
/** Lock not available, deadlock detected. */
const BUSY = new Set(['55P03', '40P01']);

/**
 * Projects the journal again into new tables, and exchanges them with the live ones in one transaction. Readers and projectors
 * wait only for the exchange, and the new rows are at least as recent as the old ones.
 */
export class Rebuild<Kept> {
  constructor(
    private readonly projection: Projection<Kept>,
    private readonly ports: RebuildPorts,
  ) {}

  async run(shard?: number): Promise<void> {
    const guard = await this.ports.pool.connect();
    try {
      const { rows } = await guard.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
        lockNumber(`rebuild of ${this.projection.name}`),
      ]);
      if (rows[0]?.mine !== true) throw new StartFault('another rebuild is under way');
      await this.runAlone(shard);
    } finally {
      guard.release(true);
    }
  }

  private async runAlone(shard: number | undefined): Promise<void> {
    const { pool, reader, say } = this.ports;
    await withTransaction(pool, 'read committed', async (client) => {
      await dropCopies(client, this.projection, copyOf);
      await createCopies(client, this.projection, copyOf);
    });
    const heads = await reader.heads();
    const shards = [...heads.keys()].filter((each) => shard === undefined || each === shard).sort();
    for (const each of shards) {
      say(`shard ${each}: ${heads.get(each) ?? 0} records`);
      await this.catchUp(transactionsOf(pool), each, heads.get(each) ?? 0);
    }
    for (const schema of schemasOf(this.projection)) await analyze(pool, copyOf(schema));
    await this.exchange(shard);
    await withTransaction(pool, 'read committed', (client) => dropCopies(client, this.projection, copyOf));
    say('exchanged');
  }

  /** Waits briefly and tries often: a transaction that waits for a lock on every table blocks all later ones. */
  private async exchange(shard: number | undefined): Promise<void> {
    let isWaiting = false;
    for (let attempt = 1; ;) {
      try {
        const isDone = await withTransaction(this.ports.pool, 'read committed', (client) =>
          this.exchangeBy(client, shard),
        );
        if (isDone) return;
        if (!isWaiting) this.ports.say('waits for a backup that is being made');
        isWaiting = true;
      } catch (error) {
        if (!isBusy(error) || attempt === ATTEMPTS) throw error;
        attempt += 1;
      }
      await pause(this.ports.clock, PAUSE_MILLIS);
    }
  }

  /**
   * Returns false while a backup reads all tables. A backup does not block an exchange of rows: its snapshot still has the old
   * ones.
   */
  private async exchangeBy(client: ClientBase, shard: number | undefined): Promise<boolean> {
    await client.query(`set local lock_timeout = '1s'`);
    const catchUp = (each: number, to: number): Promise<void> =>
      this.catchUp((work) => work(client), each, to);
    if (shard !== undefined) {
      await exchangeShard(client, this.projection, copyOf, { shard, catchUp });
      return true;
    }
    if (!(await mayExchange(client))) return false;
    await exchangeSchemas(client, this.projection, copyOf, catchUp);
    return true;
  }

  private async catchUp(inTransaction: InTransaction, shard: number, to: number): Promise<void> {
    const { clock, reader } = this.ports;
    const projector = new Projector(this.projection, { inTransaction, clock }, copyOf);
    const from = await inTransaction((client) => projector.offsets.position(client, shard));
    await projector.replay(reader, shard, { from, to });
  }
}

function isBusy(error: unknown): boolean {
  return isCodedError(error) && BUSY.has(error.code);
}

async function analyze(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`,
    [schema],
  );
  for (const { name } of rows) await pool.query(`analyze ${name}`);
}
