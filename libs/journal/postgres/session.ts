import { Socket } from 'node:net';
import type { Client, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { Clock } from '#libs/platform/time/clock.js';
import { columnTypes, KEPT } from '#libs/platform/database/postgres.js';
import { SessionClient } from '#libs/platform/database/session-client.js';

const GOODBYE_MILLIS = 1_000;
const IDLE_IN_TRANSACTION_MILLIS = 10_000;

/**
 * The server's defaults are unknown. An acknowledged commit must be on disk. The fence needs read committed: only there does a
 * statement that has waited for a row lock see the row as it is then.
 */
const SETTINGS = `
  set synchronous_commit to on;
  set default_transaction_isolation to 'read committed';
  set idle_in_transaction_session_timeout to ${IDLE_IN_TRANSACTION_MILLIS}`;

/**
 * A separate connection. Once lost, it stays lost. It has no statement timeout on purpose: a commit that is cancelled while it
 * waits for a standby is reported as done.
 */
export class Session {
  private lost: Error | undefined;

  private constructor(
    private readonly client: Client,
    private readonly socket: Socket,
    private readonly clock: Clock,
  ) {
    client.on('error', (error) => {
      this.lost ??= error;
    });
  }

  static async connect(url: string, clock: Clock, withinMillis: number): Promise<Session> {
    const socket = new Socket();
    const client = new SessionClient({
      connectionString: url,
      application_name: 'sotto-journal',
      options: KEPT,
      types: columnTypes,
      keepAlive: true,
      stream: () => socket,
    });
    const session = new Session(client, socket, clock);
    try {
      await session.within(withinMillis, async () => {
        await client.connect();
        await client.query(SETTINGS);
      });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return session;
  }

  get fault(): Error | undefined {
    return this.lost;
  }

  query<R extends QueryResultRow>(query: QueryConfig, withinMillis: number): Promise<QueryResult<R>> {
    return this.within(withinMillis, () => this.client.query<R>(query));
  }

  /** Statements in flight fail now; the server may still carry them out. */
  destroy(): void {
    this.lost ??= new Error('the connection was closed');
    this.socket.destroy();
  }

  async end(): Promise<void> {
    this.lost ??= new Error('the connection was closed');
    const cancel = this.clock.after(GOODBYE_MILLIS, () => this.socket.destroy());
    await this.client.end();
    cancel();
  }

  private async within<T>(millis: number, work: () => Promise<T>): Promise<T> {
    const cancel = this.clock.after(millis, () => {
      this.lost ??= new Error(`the server gave no answer within ${millis} ms`);
      this.socket.destroy();
    });
    try {
      return await work();
    } catch (error) {
      throw this.lost ?? error;
    } finally {
      cancel();
    }
  }
}
