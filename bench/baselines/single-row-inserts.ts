import pg from 'pg';

/** As long as the event of a quote is. */
const PAYLOAD = JSON.stringify({ type: 'BASELINE', data: 'x'.repeat(700) });
const INSERT = {
  name: 'bench-insert',
  text: 'insert into bench_rows (payload) values ($1)',
  values: [PAYLOAD],
};

/** Clients that each insert one row and commit, again and again: what the database does for who asks it one thing at a time. */
export class SingleRowInserts {
  private constructor(private readonly clients: readonly pg.Client[]) {}

  static async open(url: string, clients: number): Promise<SingleRowInserts> {
    const opened = Array.from({ length: clients }, () => new pg.Client({ connectionString: url }));
    // Whoever has asked hears of it; a server that goes while nobody asks is no matter.
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
