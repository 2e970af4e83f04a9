import type { Client } from 'pg';
import { KEPT } from '#libs/platform/database/postgres.js';
import { SessionClient } from '#libs/platform/database/session-client.js';
import { readFreezes } from '../freezes.js';
import { integerArray, keyColumns, READ_STANDING, ReservedState, type StandingRow } from './reserved-rows.js';
import { claimColumns, claimStatement, placesIn } from './claim-statement.js';
import type { ClaimLine, ClaimOfEpoch } from './claim.js';
import { accountKey, type AccountKey, byName, type ResourceKey } from './resource-key.js';

/** Only look-ups by key: a scan would put a predicate lock on the whole table. */
const PLANS = ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin']
  .map((plan) => `-c enable_${plan}=off`)
  .join(' ');
/** A single statement is a transaction of its own and must be serializable too. */
const OPTIONS = `${KEPT} ${PLANS} -c plan_cache_mode=force_generic_plan -c default_transaction_isolation=serializable`;
const CONNECT_TIMEOUT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 2_000;
const LOCK_TIMEOUT_MS = 300;
/** A process stopped in the middle of a transaction must not block the other shards. */
const IDLE_IN_TRANSACTION_MS = 2_000;
/** After this time server and answer count as lost. */
const ANSWER_TIMEOUT_MS = 5_000;

const BEGIN = 'begin isolation level serializable';
/** All callers take these advisory locks in the same order, before the transaction has its snapshot. */
const TAKE_TURNS = `
  select pg_advisory_lock(name) from (
    select distinct hashtextextended(account, 20) as name from unnest($1::text[]) account order by 1
  ) accounts`;
/** Locks the rows against writers without advisory locks, in the order in which all write. */
const HOLD_ROWS = `
  select from risk.reserved r
  join unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as k (account_id, venue, resource, asset, n)
    on (r.account_id, r.venue, r.resource, r.asset) = (k.account_id, k.venue, k.resource, k.asset)
  order by k.n for update of r`;
/** Waits for the end of the session, for less than the statement timeout. */
const OUTLIVE = `
  select coalesce(bool_and(pg_terminate_backend(pid, 1500)), true) as gone
  from pg_stat_activity where pid = $1 and application_name = $2`;
const READ_FENCE = 'select epoch::text from risk.shard_fence where shard = $1';
const RAISE_FENCE = `
  insert into risk.shard_fence as fence (shard, epoch) values ($1, $2)
  on conflict (shard) do update set epoch = excluded.epoch where fence.epoch <= excluded.epoch`;
const SOURCE = 'unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])';

export interface ReservedLine {
  readonly key: AccountKey;
  readonly amount: number;
}

export interface DeskOpening {
  /** The epoch that may write for this shard. Undefined before the fence was first raised. */
  readonly epoch: number | undefined;
  readonly standing: ReservedState;
}

/** A session as the writer uses it, on a real or a simulated server. */
export type OpenedSession = Pick<DeskSession, keyof DeskSession>;

/**
 * One database connection of one shard's reservations. Requests are pipelined: a reservation takes two round trips.
 * Any failure ends the session.
 */
export class DeskSession {
  private readonly claimText: string;

  private constructor(
    private readonly client: Client,
    private readonly shard: number,
    /** The server process of this session. */
    readonly pid: number,
  ) {
    this.claimText = claimStatement(shard);
  }

  static async open(url: string, shard: number): Promise<DeskSession> {
    const client = new SessionClient({
      connectionString: url,
      application_name: `sotto-desk-${shard}`,
      options: OPTIONS,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
    });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    return new DeskSession(client, shard, rows[0]?.pid ?? 0);
  }

  /** False if a later epoch raised it before. Serializable, like every read of the fence. */
  async raiseFence(epoch: number): Promise<boolean> {
    const [, { rowCount }] = await all([
      this.client.query(BEGIN),
      this.client.query(RAISE_FENCE, [this.shard, epoch]),
      this.client.query('commit'),
    ]);
    return rowCount === 1;
  }

  /** Begins a transaction and reads all that its decision needs. */
  async begin(
    contested: readonly string[],
    keys: readonly AccountKey[],
    quoting: readonly string[],
  ): Promise<DeskOpening> {
    this.sendTogether();
    if (contested.length > 0) this.takeTurns(contested);
    const [, , fence, rows, freezes] = await all([
      this.client.query(BEGIN),
      contested.length > 0 ? this.holdRows(keys) : Promise.resolve(),
      this.client.query<{ epoch: string }>({ name: 'desk-fence', text: READ_FENCE, values: [this.shard] }),
      this.readStanding(keys),
      readFreezes(this.client, quoting),
    ]);
    const epoch = fence.rows[0]?.epoch;
    return {
      epoch: epoch === undefined ? undefined : Number(epoch),
      standing: new ReservedState(keys, rows, freezes),
    };
  }

  /**
   * Ends a former session. A claim sent there may not have started yet, and would overwrite newer values. False
   * while the former session may still exist.
   */
  async outlives(pid: number): Promise<boolean> {
    const { rows } = await this.client.query<{ gone: boolean }>(OUTLIVE, [pid, `sotto-desk-${this.shard}`]);
    return rows[0]?.gone === true;
  }

  /** One statement, which is a transaction of its own. Writes the granted lines and returns them. */
  async claim(contested: readonly string[], claim: ClaimOfEpoch): Promise<ClaimLine[]> {
    this.sendTogether();
    if (contested.length > 0) this.takeTurns(contested);
    const query = {
      name: 'desk-claim',
      text: this.claimText,
      values: [this.shard, ...claimColumns(claim)],
      rowMode: 'array' as const,
    };
    const [{ rows }] = await all([
      this.client.query<[string | null]>(query),
      this.release(contested.length > 0),
    ]);
    return placesIn(rows[0]?.[0]).flatMap((place) => claim.lines[place - 1] ?? []);
  }

  /** Keys that the table has an amount for in the column of this shard. */
  async keysHeld(): Promise<AccountKey[]> {
    const { rows } = await this.client.query<ResourceKey & { account: string }>(
      `select account_id as account, venue, resource, asset from risk.reserved where shard_${this.shard} <> 0`,
    );
    return rows.map(({ account, ...resource }) => accountKey(account, resource));
  }

  async commit(lines: readonly ReservedLine[], contested: boolean, makeRoom: boolean): Promise<void> {
    this.sendTogether();
    const write = makeRoom ? this.upsert(lines) : this.update(lines);
    const [, end] = await all([write, this.client.query('commit'), this.release(contested)]);
    if (end.command !== 'COMMIT') throw new Error('the reservation was rolled back');
  }

  async rollback(contested: boolean): Promise<void> {
    await all([this.client.query('rollback'), this.release(contested)]);
  }

  /** Does not wait: a server that no longer answers must not block the caller. */
  destroy(): void {
    void this.client.end().catch(() => undefined);
    this.client.connection.stream.destroy();
  }

  async end(): Promise<void> {
    await this.client.end();
  }

  /** Everything sent before the next tick goes out in one write. */
  private sendTogether(): void {
    const { stream } = this.client.connection;
    stream.cork();
    process.nextTick(() => {
      stream.uncork();
    });
  }

  /** A failure to get the locks in time costs no more than a conflict. */
  private takeTurns(accounts: readonly string[]): void {
    this.client.query({ name: 'desk-turns', text: TAKE_TURNS, values: [accounts] }).catch(() => undefined);
  }

  private async holdRows(keys: readonly AccountKey[]): Promise<void> {
    await this.client.query({
      name: 'desk-hold',
      text: HOLD_ROWS,
      values: keyColumns([...keys].sort(byName)),
    });
  }

  private async release(contested: boolean): Promise<void> {
    if (contested) await this.client.query('select pg_advisory_unlock_all()');
  }

  private async readStanding(keys: readonly AccountKey[]): Promise<readonly StandingRow[]> {
    if (keys.length === 0) return [];
    const query = {
      name: 'desk-standing',
      text: READ_STANDING,
      values: keyColumns(keys),
      rowMode: 'array' as const,
    };
    return (await this.client.query<StandingRow & unknown[]>(query)).rows;
  }

  private update(lines: readonly ReservedLine[]): Promise<unknown> {
    const text = `
      update risk.reserved r set shard_${this.shard} = v.amount
      from ${SOURCE} as v (account_id, venue, resource, asset, amount)
      where (r.account_id, r.venue, r.resource, r.asset) = (v.account_id, v.venue, v.resource, v.asset)`;
    return this.client.query({ name: 'desk-update', text, values: lineColumns(lines) });
  }

  private upsert(lines: readonly ReservedLine[]): Promise<unknown> {
    const column = `shard_${this.shard}`;
    const text = `
      insert into risk.reserved (account_id, venue, resource, asset, ${column}) select * from ${SOURCE}
      on conflict (account_id, venue, resource, asset) do update set ${column} = excluded.${column}`;
    return this.client.query({ name: 'desk-upsert', text, values: lineColumns(lines) });
  }
}

function lineColumns(lines: readonly ReservedLine[]): unknown[] {
  return [...keyColumns(lines.map((line) => line.key)), integerArray(lines.map((line) => line.amount))];
}

/** All were sent already, so wait for all. The first failure is the cause of the others. */
async function all<T extends readonly unknown[]>(promises: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}
