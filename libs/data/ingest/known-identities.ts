import type { Pool } from 'pg';
import { type EventIdentity, nameOf } from './identities.js';

interface FreshIdentity {
  readonly digest: Buffer;
  /** The sequence of its journal record. */
  readonly sequence: number;
}

/** Knows which events one journal contains: from the table, and from memory for events not yet in the table. */
export class KnownIdentities {
  private readonly fresh = new Map<string, FreshIdentity>();

  constructor(
    private readonly pool: Pool,
    private readonly shard: number,
  ) {}

  /** How many are in memory only. */
  get waiting(): number {
    return this.fresh.size;
  }

  add(identity: EventIdentity, fresh: FreshIdentity): void {
    this.fresh.set(nameOf(identity), fresh);
  }

  /** Call it when all identities up to this record are in the table. */
  stored(sequence: number): void {
    for (const [name, fresh] of this.fresh) {
      if (fresh.sequence > sequence) return;
      this.fresh.delete(name);
    }
  }

  /**
   * The digests of the known events, by name. Memory is read first, because an identity leaves it only after it is in the table.
   */
  async digestsOf(identities: readonly EventIdentity[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>();
    const unknown: EventIdentity[] = [];
    for (const identity of identities) {
      const name = nameOf(identity);
      const fresh = this.fresh.get(name);
      if (fresh === undefined) unknown.push(identity);
      else found.set(name, fresh.digest);
    }
    if (unknown.length === 0) return found;
    const { rows } = await this.pool.query<EventIdentity & { readonly digest: Buffer }>({
      name: 'data-known-identities',
      text: `
        select known.type, known.key, known.digest
        from unnest($2::smallint[], $3::bytea[]) as wanted (type, key)
        join data.identities known on known.shard = $1 and known.type = wanted.type and known.key = wanted.key`,
      values: [this.shard, unknown.map(({ type }) => type), unknown.map(({ key }) => key)],
    });
    for (const row of rows) found.set(nameOf(row), row.digest);
    return found;
  }
}
