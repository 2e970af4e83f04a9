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
const RECONNECT_MILLIS = 5_000;
const CLOSE_WITHIN_MILLIS = 1_000;
/** How long to wait for a server that has vanished silently. */
const STILL_THERE: QueryConfig & { readonly query_timeout: number } = {
  text: 'select',
  query_timeout: 5_000,
};
/** Describes the processes that hold the lock, for messages to an operator. */
const HOLDERS = `
  select format('process %s, role %s, application %s', a.pid, a.usename, coalesce(nullif(a.application_name, ''), 'without a name')) as who
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())
    and l.classid = 0 and l.objid = $1 and l.objsubid = 1`;

/**
 * Writers of journals share it; a mover holds it alone. So no journal with a living owner is moved, and no owner begins during a
 * move. It ends with its connection. Short gaps are safe, because a mover takes over each shard first, which fences the owner.
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
   * For a writer, until it releases the lock. Reconnects if the connection breaks. If the journals were moved meanwhile, it
   * releases the lock for good: a suspended writer must not keep others from moving them.
   */
  async share(checkBackend: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    if (this.client !== undefined) return;
    await this.takeShared();
    if (this.isOver) return;
    this.cancel ??= repeat(this.clock, RECONNECT_MILLIS, async () => {
      if (this.client !== undefined) return;
      await this.takeShared().catch(() => undefined);
      await checkBackend().catch(async (error: unknown) => {
        if (!(error instanceof WrongBackend)) return;
        this.moved = error;
        await this.letGo();
      });
    });
  }

  /** Why this writer has ended; undefined while no reason is known. */
  get displaced(): StartFault | undefined {
    return this.moved;
  }

  /** For a writer that is about to rely on the lock. Asks the server, because a connection may end without notice. */
  async confirmShared(): Promise<void> {
    if (this.client === undefined) await this.takeShared();
    await this.whileHeld((client) => client.query(STILL_THERE));
  }

  async takeAlone(): Promise<void> {
    await this.take(ALONE, 'another process writes or moves the journals: stop the cluster first');
  }

  /** Runs work on the connection that holds the lock. Fails if the connection is lost, because another process may write after that. */
  async whileHeld<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    if (this.client === undefined)
      throw new StartFault('the connection to the database was lost while the journals were locked');
    return await work(this.client);
  }

  /** Whether a process writes or moves journals now. */
  static async isHeld(database: Pick<ClientBase, 'query'>): Promise<boolean> {
    return (await database.query(HOLDERS, [KEY])).rows.length > 0;
  }

  async letGo(): Promise<void> {
    this.isOver = true;
    this.cancel?.();
    const { client } = this;
    this.client = undefined;
    if (client === undefined) return;
    // A hung server never closes the connection.
    const cancel = this.clock.after(CLOSE_WITHIN_MILLIS, () => client.connection.stream.destroy());
    await client.end().catch(() => undefined);
    cancel();
  }

  /** Journals of several shards begin at the same moment, and share one lock. */
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
      if (this.isOver) throw new StartFault('the lock on the journals was released before it was taken');
      this.client = client;
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  }
}

async function holdersOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ who: string }>(HOLDERS, [KEY]);
  return rows.length === 0 ? 'the holder has just gone' : rows.map(({ who }) => who).join('; ');
}
