import type pg from 'pg';

/** The columns of the journal's table, written without hashes, fencing or order. */
const TABLE = `
  create table if not exists bench_records (
    shard smallint not null,
    sequence bigint generated always as identity,
    epoch integer not null,
    kind text not null,
    payload text not null,
    hash bytea not null,
    recorded_at timestamptz not null default now(),
    primary key (shard, sequence)
  )`;
const HASH = Buffer.alloc(32, 7);
const PER_ROW = "0, 1, 'event'";

/** The fastest that the database writes rows like those of the journal. */
export class BareRows {
  private waiting: { readonly payload: string; readonly done: () => void }[] = [];
  private running = false;

  constructor(private readonly client: pg.Client) {}

  async open(): Promise<void> {
    await this.client.query(TABLE);
    await this.client.query('truncate bench_records');
  }

  /** Callers share commits: those that come while a statement runs join the next one. */
  append(payload: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ payload, done: resolve });
      if (this.running) return;
      this.running = true;
      queueMicrotask(() => void this.drain().catch(reject));
    });
  }

  /** One statement with a parameter for each value of each row, as in ordinary code. */
  async insert(payloads: readonly string[]): Promise<void> {
    const rows = payloads.map((_, index) => `(${PER_ROW}, $${2 * index + 1}, $${2 * index + 2})`);
    await this.client.query({
      name: `bench-insert-${payloads.length}`,
      text: `insert into bench_records (shard, epoch, kind, payload, hash) values ${rows.join(', ')}`,
      values: payloads.flatMap((payload) => [payload, HASH]),
    });
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      const group = this.waiting;
      this.waiting = [];
      await this.client.query({
        name: 'bench-group',
        text: `insert into bench_records (shard, epoch, kind, payload, hash) select ${PER_ROW}, payload, $2 from unnest($1::text[]) payload`,
        values: [group.map(({ payload }) => payload), HASH],
      });
      for (const { done } of group) done();
    }
    this.running = false;
  }
}
