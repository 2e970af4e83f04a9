import type { Pool } from 'pg';

/** A number of calls of one window. `age` is in milliseconds before they were written. */
export type CountedCalls = readonly [key: string, age: number, calls: number];

export interface CountsOfOthers {
  readonly entryNo: number;
  /** How many milliseconds ago they were written. */
  readonly age: number;
  readonly calls: readonly CountedCalls[];
}

/** Where replicas share the calls that they have counted. */
export class CallCountTable {
  constructor(private readonly pool: Pool) {}

  async write(replica: string, calls: readonly CountedCalls[]): Promise<void> {
    await this.pool.query({
      name: 'data-call-counts-write',
      text: 'insert into data.call_counts (replica, calls) values ($1, $2)',
      values: [replica, JSON.stringify(calls)],
    });
  }

  /** Entries of the last `millis` milliseconds. They may have been read before. */
  async ofOthers(replica: string, millis: number): Promise<readonly CountsOfOthers[]> {
    const { rows } = await this.pool.query<{
      readonly entry_no: number;
      readonly age: number;
      readonly calls: readonly CountedCalls[];
    }>({
      name: 'data-call-counts-read',
      text: `
        select entry_no, calls, extract(epoch from clock_timestamp() - written_at)::float8 * 1000 as age
        from data.call_counts
        where written_at > clock_timestamp() - $2 * interval '1 millisecond' and replica <> $1`,
      values: [replica, millis],
    });
    return rows.map(({ entry_no: entryNo, age, calls }) => ({ entryNo, age, calls }));
  }

  async forgetPast(): Promise<void> {
    await this.pool.query(
      `delete from data.call_counts where written_at < clock_timestamp() - interval '2 minutes'`,
    );
  }
}
