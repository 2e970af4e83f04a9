import type { Client, ClientBase, QueryConfig } from 'pg';
import { repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import { KEPT } from '#libs/platform/database/postgres.js';
import { SessionClient } from '#libs/platform/database/session-client.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { WrongBackend } from './journal-backend.js';

/** Any constant will do as long as it never changes: it keeps this lock apart from all others. */
const KEY = 1_193_046_473;
const SHARED = 'select pg_try_advisory_lock_shared($1) as held';
const ALONE = 'select pg_try_advisory_lock($1) as held';
const LOOK_MILLIS = 5_000;
const GOODBYE_MILLIS = 1_000;
/** A server that has gone without a word is waited for no longer. */
const STILL_THERE: QueryConfig & { readonly query_timeout: number } = {
  text: 'select',
  query_timeout: 5_000,
};
/** For people. */
const HOLDERS = `
  select format('process %s, role %s, application %s', a.pid, a.usename, coalesce(nullif(a.application_name, ''), 'without a name')) as who
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())
    and l.classid = 0 and l.objid = $1 and l.objsubid = 1`;

/**
 * Writers of journals share it, and a mover holds it alone: a journal with a living owner is not moved, and no owner begins while one is
 * moved. It ends with its connection. Holding it most of the time is enough, because a mover takes each shard first, which fences its
 * owner.
 */
export class JournalLock {
  private client: Client | undefined;
  private taking: Promise<void> | undefined;
  private cancel: Cancel | undefined;
  private isOver = false;
  private moved: StartFault | undefined;

  constructor(
    private readonly databaseUrl: string,
    private readonly clock: Clock,
  ) {}

  /**
   * For a writer, until it lets go. Where the connection breaks another is made; the journals may have been moved meanwhile, and then it is let go
   * for good: whoever slept through that must not keep others from moving them.
   */
  async share(stillHere: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    if (this.client !== undefined) return;
    await this.takeShared();
    if (this.isOver) return;
    this.cancel ??= repeat(this.clock, LOOK_MILLIS, async () => {
      if (this.client !== undefined) return;
      await this.takeShared().catch(() => undefined);
      await stillHere().catch(async (error: unknown) => {
        if (!(error instanceof WrongBackend)) return;
        this.moved = error;
        await this.letGo();
      });
    });
  }

  /** Why this writer is over; undefined while no reason is known. */
  get displaced(): StartFault | undefined {
    return this.moved;
  }

  /** For a writer that is about to rely on the lock: asks the server, since a connection may have ended without a notice yet. */
  async confirmShared(): Promise<void> {
    if (this.client === undefined) await this.takeShared();
    await this.whileHeld((client) => client.query(STILL_THERE));
  }

  async takeAlone(): Promise<void> {
    await this.take(ALONE, 'somebody writes the journals, or moves them: stop the cluster first');
  }

  /** Runs work on the connection that holds the lock. Fails when the connection is lost, since another may write by then. */
  async whileHeld<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    if (this.client === undefined) throw new StartFault('the database was lost while the journals were held');
    return await work(this.client);
  }

  /** Whether a process writes journals at present, or moves them. */
  static async isHeld(database: Pick<ClientBase, 'query'>): Promise<boolean> {
    return (await database.query(HOLDERS, [KEY])).rows.length > 0;
  }

  async letGo(): Promise<void> {
    this.isOver = true;
    this.cancel?.();
    const { client } = this;
    this.client = undefined;
    if (client === undefined) return;
    // A server that hangs never says goodbye.
    const cancel = this.clock.after(GOODBYE_MILLIS, () => client.connection.stream.destroy());
    await client.end().catch(() => undefined);
    cancel();
  }

  /** Journals of several shards begin at the same moment, and hold the lock once between them. */
  private takeShared(): Promise<void> {
    this.taking ??= this.take(SHARED, 'the journals are being moved at present').finally(() => {
      this.taking = undefined;
    });
    return this.taking;
  }

  private async take(statement: string, refusal: string): Promise<void> {
    const client = new SessionClient({
      connectionString: this.databaseUrl,
      application_name: 'sotto-journal-lock',
      options: KEPT,
    });
    const lost = (): void => {
      if (this.client === client) this.client = undefined;
    };
    client.on('error', lost).on('end', lost);
    try {
      await client.connect();
      const { rows } = await client.query<{ held: boolean }>(statement, [KEY]);
      if (rows[0]?.held !== true) throw new StartFault(`${refusal}: ${await holdersOf(client)}`);
      if (this.isOver) throw new StartFault('the journals were let go before they were held');
      this.client = client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }
}

async function holdersOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ who: string }>(HOLDERS, [KEY]);
  return rows.length === 0 ? 'he has just gone' : rows.map(({ who }) => who).join('; ');
}
