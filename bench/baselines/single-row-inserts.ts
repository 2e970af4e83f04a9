import pg from 'pg';

/** As long as the event of a quote. */
const PAYLOAD = JSON.stringify({ type: 'BASELINE', data: 'x'.repeat(700) });
const INSERT = {
  name: 'bench-insert',
  text: 'insert into bench_rows (payload) values ($1)',
  values: [PAYLOAD],
};

/**
 * Clients that each insert one row and commit, in a loop: the speed of the database for one request at a
 * time.
 */
export class SingleRowInserts {
  private constructor(private readonly clients: readonly pg.Client[]) {}

  static async open(url: string, clients: number): Promise<SingleRowInserts> {
    const opened = Array.from({ length: clients }, () => new pg.Client({ connectionString: url }));
    // A pending query reports the error. Without one a closed connection does not matter.
    for (const client of opened) client.on('error', () => undefined);
    await Promise.all(opened.map((client) => client.connect()));
    await opened[0]?.query(
      'create table if not exists bench_rows (id bigint generated always as identity primary key, payload text)',
    );
    return new SingleRowInserts(opened);
  }

  readonly insert = async (client: number): Promise<void> => {
    await this.clients[client]?.query(INSERT);
  };

  async close(): Promise<void> {
    await this.clients[0]?.query('drop table bench_rows');
    await Promise.all(this.clients.map((client) => client.end()));
  }
}
