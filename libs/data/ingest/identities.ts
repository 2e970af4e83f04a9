import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import type { JournalEntry } from '#libs/journal/journal.js';
import type { Projection, ProjectionWriter, SchemaOf } from '#libs/projecting/projection.js';
import { qualified } from '#libs/projecting/projection.js';
import { type CursorRecord, type JournaledMarketData, readRecord } from '../rules/event-codec.js';
import { digestOfPayload } from './encoded-event.js';

/** The table stores their indices, so the order must never change. */
const TYPES = ['MARKET', 'STATUS', 'TRADE', 'TRADE_BUST', 'LEDGER', 'RESOLUTION', 'SCORE', 'TICK'] as const;

const KEY_BYTES = 16;

export interface EventIdentity {
  readonly type: number;
  readonly key: Buffer;
}

/** The identity of an event within its journal. Labels share one journal, so the label is a part of it. */
export function identityOf(event: JournaledMarketData): EventIdentity {
  const named = 'label' in event ? `${event.label}\0${event.source_id}` : event.source_id;
  const key = createHash('sha256').update(named).digest().subarray(0, KEY_BYTES);
  return { type: TYPES.indexOf(event.type), key };
}

/** The identity as a key for maps. */
export function nameOf({ type, key }: EventIdentity): string {
  return `${String(type)}:${key.toString('base64')}`;
}

const IDENTITIES = { schema: 'data', name: 'identities' };
const CURSORS = { schema: 'data', name: 'cursors' };

/** Projects the identities of all events and the cursor of each source. It goes on while a provider is paused. */
export const identityProjection: Projection<never> = {
  name: 'identities of market data',
  family: 'data',
  offsets: { schema: 'data', name: 'identity_offsets' },
  tables: [
    { ...IDENTITIES, key: ['shard', 'type', 'key'], shard: 'shard' },
    { ...CURSORS, key: ['shard', 'source'], shard: 'shard' },
  ],
  capacity: 0,
  writer: (schemaOf) => new IdentityRows(schemaOf),
};

class IdentityRows implements ProjectionWriter<never> {
  constructor(private readonly schemaOf: SchemaOf) {}

  async apply(
    client: ClientBase,
    { shard, entries }: { readonly shard: number; readonly entries: readonly JournalEntry[] },
  ): Promise<ReadonlyMap<string, never>> {
    const identities: (EventIdentity & { readonly digest: Buffer })[] = [];
    const cursors = new Map<string, CursorRecord>();
    for (const { kind, payload } of entries) {
      if (kind !== 'event') continue;
      const record = readRecord(payload);
      if (record.type === 'CURSOR') cursors.set(record.source, record);
      else identities.push({ ...identityOf(record), digest: digestOfPayload(payload) });
    }
    await this.writeIdentities(client, shard, identities);
    await this.writeCursors(client, shard, [...cursors.values()]);
    return new Map<string, never>();
  }

  private async writeIdentities(
    client: ClientBase,
    shard: number,
    identities: readonly (EventIdentity & { readonly digest: Buffer })[],
  ): Promise<void> {
    if (identities.length === 0) return;
    await client.query({
      name: 'data-identities',
      text: `
        insert into ${qualified(IDENTITIES, this.schemaOf)} (shard, type, key, digest)
        select $1, type, key, digest from unnest($2::smallint[], $3::bytea[], $4::bytea[]) as known (type, key, digest)
        order by type, key on conflict do nothing`,
      values: [
        shard,
        identities.map(({ type }) => type),
        identities.map(({ key }) => key),
        identities.map(({ digest }) => digest),
      ],
    });
  }

  private async writeCursors(
    client: ClientBase,
    shard: number,
    cursors: readonly CursorRecord[],
  ): Promise<void> {
    if (cursors.length === 0) return;
    await client.query(
      `insert into ${qualified(CURSORS, this.schemaOf)} (shard, source, cursor)
       select $1, * from unnest($2::text[], $3::text[])
       on conflict (shard, source) do update set cursor = excluded.cursor`,
      [shard, cursors.map(({ source }) => source), cursors.map(({ cursor }) => cursor)],
    );
  }
}
