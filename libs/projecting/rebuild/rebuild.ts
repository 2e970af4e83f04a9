import type { ClientBase, Pool } from 'pg';
import type { JournalReader } from '#libs/journal/journal.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { isCodedError, StartFault } from '#libs/platform/process/start-fault.js';
import { Projection } from '#libs/auction/projections/projection.js';
import { Projector, transactionsOf, type InTransaction } from '../projector.js';
import { schemaNames, type Schemas } from '../schemas.js';
import { PositionsTable } from '../positions.js';
import { createCopies, dropCopies } from './copies.js';
import { replay } from './replay.js';
import { exchangeSchemas, exchangeShard } from './exchange.js';
import { mayExchange } from './exchange-lock.js';

export interface RebuildPorts {
  readonly pool: Pool;
  readonly reader: JournalReader;
  readonly clock: Clock;
  /** Told of every step. */
  readonly say: (line: string) => void;
}

const COPIES: Schemas = { completed: 'completed_rebuilt', auction_history: 'auction_history_rebuilt' };
const LOCK = 2_980_114_507;
const ATTEMPTS = 20;
const PAUSE_MILLIS = 500;
/** Lock not available, deadlock detected. */
const BUSY = new Set(['55P03', '40P01']);

/**
 * Makes the projections anew from the journal, beside those in use, and exchanges the two in one transaction. Readers and
 * projectors go on until then, wait for a moment, and find the new rows at a position that is not behind the old one.
 */
export class Rebuild {
  constructor(private readonly ports: RebuildPorts) {}

  async run(shard?: number): Promise<void> {
    const guard = await this.ports.pool.connect();
    try {
      const { rows } = await guard.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
        LOCK,
      ]);
      if (rows[0]?.mine !== true) throw new StartFault('another rebuild is under way');
      await this.alone(shard);
    } finally {
      guard.release(true);
    }
  }

  private async alone(shard: number | undefined): Promise<void> {
    const { pool, reader, say } = this.ports;
    await withTransaction(pool, 'read committed', async (client) => {
      await dropCopies(client, COPIES);
      await createCopies(client, COPIES);
    });
    const heads = await reader.heads();
    const shards = [...heads.keys()].filter((each) => shard === undefined || each === shard).sort();
    for (const each of shards) {
      say(`shard ${each}: ${heads.get(each) ?? 0} records`);
      await this.catchUp(transactionsOf(pool), each, heads.get(each) ?? 0);
    }
    for (const schema of schemaNames(COPIES)) await analyze(pool, schema);
    await this.exchange(shard);
    await withTransaction(pool, 'read committed', (client) => dropCopies(client, COPIES));
    say('exchanged');
  }

  /** Waits little and tries often: whoever waits for a lock on everything holds up everybody behind it. */
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

  /** False while somebody reads all tables as they were at one moment. Rows of one shard that are exchanged still have those of before. */
  private async exchangeBy(client: ClientBase, shard: number | undefined): Promise<boolean> {
    await client.query(`set local lock_timeout = '1s'`);
    const catchUp = (each: number, to: number): Promise<void> =>
      this.catchUp((work) => work(client), each, to);
    if (shard !== undefined) {
      await exchangeShard(client, COPIES, shard, catchUp);
      return true;
    }
    if (!(await mayExchange(client))) return false;
    await exchangeSchemas(client, COPIES, catchUp);
    return true;
  }

  private async catchUp(inTransaction: InTransaction, shard: number, to: number): Promise<void> {
    const { clock, reader } = this.ports;
    const projector = new Projector(inTransaction, new Projection(COPIES), clock, {
      applied: () => undefined,
    });
    const from = await inTransaction(async (client) => (await rebuiltTo(client)).get(shard) ?? 0);
    await replay(projector, reader, shard, { from, to });
  }
}

function isBusy(error: unknown): boolean {
  return isCodedError(error) && BUSY.has(error.code);
}

function rebuiltTo(client: ClientBase): Promise<Map<number, number>> {
  return new PositionsTable(COPIES).all(client);
}

async function analyze(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`,
    [schema],
  );
  for (const { name } of rows) await pool.query(`analyze ${name}`);
}
