import pg from 'pg';
import { pause, repeat, type Cancel, type Clock } from '#libs/platform/time/clock.js';
import { KEPT } from '#libs/platform/database/postgres.js';
import { StartFault } from '#libs/platform/process/start-fault.js';

/** The key of the advisory lock. No other lock may use it. */
const LOCK_KEY = 7_210_554_321;
const NAME = 'sotto-cluster';
/** The server may be slow to notice that the connection of a killed launcher has closed. */
const TIMEOUT_MS = 5_000;
const TRY_EVERY_MS = 100;
const CHECK_EVERY_MS = 1_000;

/** Keepalives: a machine that vanished must not keep the database from the cluster that replaces its own. */
const TAKE = `
  select pg_try_advisory_lock($1) as mine, set_config('tcp_keepalives_idle', '5', false),
    set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)`;
const HOLDER = `
  select substr(a.application_name, length($2) + 2) as holder
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and (l.classid::bigint << 32) + l.objid::bigint = $1`;

/**
 * One cluster for each database: a second launcher would lock out the first, because each start sets new
 * passwords. The lock's own connection is held from before the first change until every process has stopped.
 */
export class DatabaseLock {
  private client: pg.Client | undefined;
  private cancel: Cancel = () => undefined;

  constructor(
    private readonly url: string,
    /** Shown to a second launcher. */
    private readonly holder: string,
    private readonly clock: Clock,
  ) {}

  async take(signal: AbortSignal): Promise<void> {
    const deadline = this.clock.monotonicNanos() + BigInt(TIMEOUT_MS) * 1_000_000n;
    for (;;) {
      const rival = await this.attempt();
      if (rival === undefined) return;
      if (this.clock.monotonicNanos() > deadline) throw rival;
      await pause(this.clock, TRY_EVERY_MS);
      signal.throwIfAborted();
    }
  }

  /**
   * The lock ends with its connection, so it is taken again when that breaks. `onRival` is called if another
   * launcher was faster.
   */
  watch(onRival: (fault: StartFault) => void): void {
    this.cancel = repeat(this.clock, CHECK_EVERY_MS, async () => {
      if (this.client !== undefined) return;
      const rival = await this.attempt().catch(() => undefined);
      if (rival !== undefined) onRival(rival);
    });
  }

  async release(): Promise<void> {
    this.cancel();
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async attempt(): Promise<StartFault | undefined> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: `${NAME} ${this.holder}`,
      options: KEPT,
      keepAlive: true,
    });
    const lost = (): void => {
      if (this.client === client) this.client = undefined;
    };
    client.on('error', lost).on('end', lost);
    let mine = false;
    try {
      await client.connect();
      const { rows } = await client.query<{ mine: boolean }>(TAKE, [LOCK_KEY]);
      mine = rows[0]?.mine === true;
      if (!mine) return await rivalOn(client);
      this.client = client;
      return undefined;
    } finally {
      if (!mine) await client.end().catch(() => undefined);
    }
  }
}

async function rivalOn(client: pg.Client): Promise<StartFault> {
  const { rows } = await client.query<{ holder: string }>(HOLDER, [LOCK_KEY, NAME]);
  const holder = rows[0]?.holder ?? 'it has just ended';
  return new StartFault(
    `the database is in use by another cluster (${holder}): stop that or set DATABASE_URL to another database`,
  );
}
