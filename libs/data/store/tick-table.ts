import type { ClientBase } from 'pg';
import { LIVE, type SchemaOf } from '#libs/projecting/projection.js';
import type { JsonMembers, TickEvent } from '../rules/events.js';
import { PROVIDERS, type Provider } from '../rules/providers.js';

type Client = Pick<ClientBase, 'query'>;

/** The newest tick of a perpetual, from any source. */
export interface PerpetualTick {
  readonly symbol: string;
  /** A decimal of any size. */
  readonly price: string;
  readonly content: JsonMembers;
}

/** Stores the newest tick of each symbol from each source. */
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

  /** By symbol. A tick labelled with a provider's name belongs to that provider only; other ticks are shown for every provider. */
  async perpetuals(client: Client, provider: Provider, symbol?: string): Promise<PerpetualTick[]> {
    // PostgreSQL cannot store a text that contains it.
    if (symbol?.includes('\0') === true) return [];
    const { rows } = await client.query<PerpetualTick>(
      `select distinct on (symbol) symbol, price, content from ${this.table}
       where source in ('exchange_spot', 'oracle_stream', 'reference') and class = 'perpetual'
         and ($3::text is null or symbol = $3::text collate "C") and (label = $1 or label <> all ($2::text[]))
       order by symbol, source_ts desc, source_id desc`,
      [provider, PROVIDERS, symbol ?? null],
    );
    return rows;
  }
}
