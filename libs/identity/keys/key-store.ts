import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { quickly } from '../quick-query.js';
import { KeyRing } from './key-ring.js';
import type { KeySeal } from './key-seal.js';
import { signingKeyOf, type SigningKey } from './signing-key.js';

interface KeyRow {
  readonly kid: string;
  readonly sealed_private_key: Buffer;
  readonly created_at: number;
  readonly active_from: number;
}

const ROWS = `
  select kid, sealed_private_key, extract(epoch from created_at)::int8 as created_at,
    extract(epoch from active_from)::int8 as active_from
  from identity.signing_keys`;

/** Changes the keys while the table is locked. */
export interface KeyChanges {
  readonly ring: KeyRing;
  /** Also counts rows that this process cannot decrypt. */
  readonly rowCount: number;
  add(key: SigningKey): Promise<void>;
  remove(kid: string): Promise<void>;
}

export class KeyStore {
  constructor(
    private readonly pool: Pool,
    private readonly seal: KeySeal,
  ) {}

  /** Decrypts rows that are not in `known`. Ignores rows that our key does not decrypt. */
  async load(known?: KeyRing): Promise<KeyRing> {
    const { rows } = await this.pool.query<KeyRow>(quickly({ name: 'identity-keys', text: ROWS }));
    return this.ringOf(rows, known);
  }

  change<T>(work: (changes: KeyChanges) => Promise<T>): Promise<T> {
    return withTransaction(this.pool, 'read committed', async (client) => {
      await client.query('lock table identity.signing_keys in share row exclusive mode');
      const { rows } = await client.query<KeyRow>(ROWS);
      return work({
        ring: this.ringOf(rows),
        rowCount: rows.length,
        add: (key) => this.add(client, key),
        remove: async (kid) => {
          await client.query('delete from identity.signing_keys where kid = $1', [kid]);
        },
      });
    });
  }

  /** Deletes keys whose successor became active before `seconds`. */
  async removeSucceededBefore(seconds: number): Promise<void> {
    await this.pool.query(
      `delete from identity.signing_keys k where exists (
         select from identity.signing_keys successor
         where successor.active_from > k.active_from and successor.active_from < to_timestamp($1))`,
      [seconds],
    );
  }

  private async add(
    client: PoolClient,
    { kid, privateKey, createdAt, activeFrom }: SigningKey,
  ): Promise<void> {
    await client.query(
      `insert into identity.signing_keys (kid, sealed_private_key, created_at, active_from)
       values ($1, $2, to_timestamp($3), to_timestamp($4))`,
      [kid, this.seal.seal(privateKey, kid), createdAt, activeFrom],
    );
  }

  private ringOf(rows: readonly KeyRow[], known?: KeyRing): KeyRing {
    return new KeyRing(rows.flatMap((row) => this.keyOf(row, known) ?? []));
  }

  private keyOf(row: KeyRow, known?: KeyRing): SigningKey | undefined {
    const times = { createdAt: row.created_at, activeFrom: row.active_from };
    const opened = known?.get(row.kid);
    if (opened !== undefined) return { ...opened, ...times };
    const privateKey = this.seal.open(row.sealed_private_key, row.kid);
    return privateKey && signingKeyOf(privateKey, times);
  }
}
