import type { ClientBase } from 'pg';
import { LIVE, type SchemaOf } from '#libs/projecting/projection.js';
import type { TickEvent } from '../rules/events.js';

type Client = Pick<ClientBase, 'query'>;

/** The newest tick of each symbol from each source. */
export class TickTable {
  private readonly table: string;

  constructor(schemaOf: SchemaOf = LIVE) {
    this.table = `${schemaOf('data')}.ticks`;
  }

  async add(client: Client, ticks: readonly TickEvent[]): Promise<void> {
    if (ticks.length === 0) return;
    await client.query(
      `insert into ${this.table} as known (source, class, symbol, label, source_ts, source_id, price, content)
       select distinct on (source, class, symbol) source, class, symbol, label, source_ts, source_id collate "C", price, content::jsonb
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[])
         as tick (source, class, symbol, label, source_ts, source_id, price, content)
       order by source, class, symbol, source_ts desc, source_id collate "C" desc
       on conflict (source, class, symbol) do update set label = excluded.label, source_ts = excluded.source_ts,
         source_id = excluded.source_id, price = excluded.price, content = excluded.content
       where (excluded.source_ts, excluded.source_id) > (known.source_ts, known.source_id)`,
      [
        ...[
          ticks.map(({ source }) => source),
          ticks.map((tick) => tick.class),
          ticks.map(({ symbol }) => symbol),
        ],
        ...[ticks.map(({ label }) => label), ticks.map(({ source_ts }) => source_ts)],
        ...[ticks.map(({ source_id }) => source_id), ticks.map(({ price }) => price)],
        ticks.map(({ content }) => JSON.stringify(content)),
      ],
    );
  }
}
