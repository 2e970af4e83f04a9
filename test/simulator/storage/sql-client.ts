import type { QueryConfig, QueryResult } from 'pg';
import type { Host } from '../kernel/host.js';
import type { SimulatedDatabase } from './database.js';
import { DatabaseFault } from './database-fault.js';
import { SimulatedSession } from './session.js';
import { rowsOf, type StatementAnswer } from './statement.js';
import { Transaction } from './transaction.js';

const PATIENCE_MILLIS = 1_000;
const SETTLEMENT_STANDSTILL_MILLIS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';
/** Which projector holds each shard; the product uses advisory locks. */
const LEASES = 'lease';

type Asked = string | QueryConfig;

/** The client of the pg package, as far as the product uses it, on the simulated server. */
export class SqlClient {
  private readonly session: SimulatedSession;
  private tx: Transaction | undefined;
  private hasFailed = false;
  private isPatient = true;
  private readonly leases = {};

  constructor(
    private readonly database: SimulatedDatabase,
    host: Host,
  ) {
    this.session = new SimulatedSession(database, host);
    this.session.whenEnded(() => {
      this.tx = undefined;
      database.unlock(this);
      database.unlock(this.leases);
    });
  }

  async query(asked: Asked, given?: readonly unknown[]): Promise<QueryResult> {
    const { text, name, values } =
      typeof asked === 'string' ? { text: asked, name: undefined, values: given } : asked;
    return this.session.send<QueryResult>((done) => {
      this.carryOut(text.trim(), name, values ?? given ?? [], done);
    });
  }

  release(broken?: Error | boolean): void {
    if (broken === true || broken instanceof Error) this.session.abandon();
  }

  private carryOut(
    text: string,
    name: string | undefined,
    values: readonly unknown[],
    done: (outcome: QueryResult | Error) => void,
  ): void {
    if (text.startsWith('begin')) this.begin(done);
    else if (text === 'commit' || text === 'rollback') this.finish(text === 'commit', done);
    // Broken sessions end at once here, so no idle session has to be detected.
    else if (text.startsWith('set idle_session_timeout')) done(resultOf('SET', rowsOf([])));
    else if (text.includes('pg_try_advisory_lock($1, shard)')) this.lease(values, done);
    else this.statement(text, name, values, done);
  }

  private begin(done: (outcome: QueryResult) => void): void {
    this.tx = new Transaction();
    this.hasFailed = false;
    this.isPatient = true;
    this.session.waitAtMost();
    done(resultOf('BEGIN', rowsOf([])));
  }

  private finish(isCommit: boolean, done: (outcome: QueryResult | Error) => void): void {
    const { tx } = this;
    this.tx = undefined;
    this.session.waitNoMore();
    const isKept = isCommit && tx !== undefined && !this.hasFailed;
    if (isKept) this.database.commit(tx);
    this.database.unlock(this);
    done(resultOf(isKept ? 'COMMIT' : 'ROLLBACK', rowsOf([])));
  }

  private statement(
    text: string,
    name: string | undefined,
    values: readonly unknown[],
    done: (outcome: QueryResult | Error) => void,
  ): void {
    const { database } = this;
    const statement = database.statement(name, text);
    if (name === 'custody-patience') this.isPatient = false;
    if (this.tx !== undefined)
      this.session.waitAtMost(this.isPatient ? undefined : SETTLEMENT_STANDSTILL_MILLIS);
    const within = this.tx;
    const run = (): void => {
      const tx = within ?? new Transaction();
      try {
        if (this.tx !== within) throw new DatabaseFault('25P03', 'the transaction has been ended');
        tx.workedAt = database.now();
        const answer = statement.run({ tables: database.tables, tx, now: tx.workedAt }, values);
        if (within === undefined) this.database.commit(tx);
        done(resultOf('', answer));
      } catch (error) {
        this.hasFailed = true;
        done(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const locks = statement.locks?.(values) ?? [];
    if (locks.length === 0) {
      run();
      return;
    }
    let isTooLate = false;
    const cancel = this.isPatient
      ? () => undefined
      : database.scheduler.after(PATIENCE_MILLIS * 1_000_000, undefined, () => {
          isTooLate = true;
          this.hasFailed = true;
          done(new DatabaseFault(LOCK_NOT_AVAILABLE, 'canceling statement due to lock timeout'));
        });
    database.lock(this, locks, () => {
      cancel();
      if (!isTooLate) run();
    });
  }

  private lease([, wanted]: readonly unknown[], done: (outcome: QueryResult) => void): void {
    const got: object[] = [];
    for (const shard of wanted as readonly number[]) {
      if (this.database.tryLock(this.leases, `${LEASES}/${shard}`)) got.push({ shard });
    }
    done(resultOf('SELECT', rowsOf(got)));
  }
}

function resultOf(command: string, { rows, rowCount }: StatementAnswer): QueryResult {
  return { command, rows: rows.map(copyOf), rowCount, oid: 0, fields: [] };
}

/** As an object or, if the caller asked for it, as a list. */
function copyOf(row: object): object {
  return Array.isArray(row) ? [...(row as readonly unknown[])] : { ...row };
}
