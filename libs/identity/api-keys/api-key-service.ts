import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '#libs/platform/database/postgres.js';
import { LISTED_KEYS, type ListedKey } from './api-key-rows.js';
import type { ApiKeyWatch } from './api-key-watch.js';
import { newTriple, type KeyTriple, type TripleSeal } from './key-triple.js';
import { isGrantable, PRESETS, type Preset } from './scopes.js';

export const MOST_API_KEYS = 20;

interface KeyTerms {
  readonly name: string;
  readonly ip_allow_list?: readonly string[];
  readonly orders_per_minute?: number;
  readonly expires_at?: Date;
}
export interface NewKey extends KeyTerms {
  readonly preset: Preset;
}
export interface GrantedKey extends KeyTerms {
  readonly scopes: readonly string[];
}

/** An absent field stays unchanged. Null removes the value. */
export interface KeyChange {
  readonly name?: string;
  readonly ip_allow_list?: readonly string[] | null;
  readonly orders_per_minute?: number | null;
  readonly expires_at?: Date | null;
}

/** A new key with its two secrets, which are shown only this once. */
export interface IssuedKey {
  readonly triple: KeyTriple;
  readonly row: ListedKey;
}
export interface RotatedKey extends IssuedKey {
  readonly previous_valid_until: Date;
}

/** Records who acted and why, in the same transaction. */
export type WriteDown = (client: PoolClient) => Promise<void>;

const INSERT = `
  insert into identity.api_keys
    (client_id, account_id, name, preset, scopes, ip_allow_list, orders_per_minute, expires_at, digest)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

const CHANGE = `
  update identity.api_keys set
    name = coalesce($3, name),
    ip_allow_list = case when $4 then $5::text[] else ip_allow_list end,
    orders_per_minute = case when $6 then $7::int else orders_per_minute end,
    expires_at = case when $8 then $9::timestamptz else expires_at end
  where client_id = $1 and account_id = $2 and revoked_at is null`;

const ROTATE = `
  update identity.api_keys set previous_digest = digest, digest = $3,
    previous_valid_until = date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $4)
  where client_id = $1 and account_id = $2 and revoked_at is null
  returning previous_valid_until`;

const REVOKE = `
  update identity.api_keys set revoked_at = clock_timestamp()
  where client_id = $1 and ($2::uuid is null or account_id = $2) and revoked_at is null`;

/** Changes API keys of users. This process applies a change at once; the others follow within a second. */
export class ApiKeyService {
  constructor(
    private readonly pool: Pool,
    private readonly seal: TripleSeal,
    private readonly watch: ApiKeyWatch,
  ) {}

  async list(account_id: string): Promise<readonly ListedKey[]> {
    const text = `${LISTED_KEYS} and k.account_id = $1 order by k.created_at, k.client_id`;
    return (await this.pool.query<ListedKey>(text, [account_id])).rows;
  }

  /** Undefined if the user already has as many keys as allowed. */
  create(account_id: string, { preset, ...terms }: NewKey): Promise<IssuedKey | undefined> {
    return this.changing(async (client) => {
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 79))', [account_id]);
      const { rowCount } = await client.query(
        'select from identity.api_keys where account_id = $1 and revoked_at is null limit $2',
        [account_id, MOST_API_KEYS],
      );
      if (rowCount === MOST_API_KEYS) return undefined;
      return this.insert(client, account_id, { ...terms, preset, scopes: PRESETS[preset] });
    });
  }

  /** For an operator. Undefined for an unknown user. Throws for scopes that no key may have. */
  async grant(
    account_id: string,
    key: GrantedKey,
    recordAction: (client: PoolClient, client_id: string) => Promise<void>,
  ): Promise<IssuedKey | undefined> {
    const scopes = [...new Set(key.scopes)].sort();
    const [forbidden] = scopes.filter((scope) => !isGrantable(scope));
    if (forbidden !== undefined) throw new RangeError(`no key may have the scope ${forbidden}`);
    return this.changing(async (client) => {
      const user = await client.query('select from identity.users where account_id = $1', [account_id]);
      if (user.rowCount === 0) return undefined;
      const issued = await this.insert(client, account_id, { ...key, scopes });
      await recordAction(client, issued.triple.client_id);
      return issued;
    });
  }

  /** Undefined if the user has no such key. */
  async change(account_id: string, client_id: string, change: KeyChange): Promise<ListedKey | undefined> {
    const { name, ip_allow_list: list, orders_per_minute: limit, expires_at: end } = change;
    return this.changing(async (client) => {
      const { rowCount } = await client.query(CHANGE, [
        ...[client_id, account_id, name ?? null],
        ...[list !== undefined, list ?? []],
        ...[limit !== undefined, limit ?? null],
        ...[end !== undefined, end ?? null],
      ]);
      return rowCount === 0 ? undefined : this.row(client, client_id);
    });
  }

  /** Issues a new triple with the same id. The previous one stays valid for the overlap. */
  async rotate(
    account_id: string,
    client_id: string,
    overlapSeconds: number,
  ): Promise<RotatedKey | undefined> {
    const triple = newTriple(client_id);
    return this.changing(async (client) => {
      const { rows } = await client.query<{ readonly previous_valid_until: Date }>(ROTATE, [
        client_id,
        account_id,
        this.seal.digestOf(triple),
        overlapSeconds,
      ]);
      if (rows[0] === undefined) return undefined;
      return { triple, row: await this.row(client, client_id), ...rows[0] };
    });
  }

  revoke(account_id: string, client_id: string): Promise<boolean> {
    return this.changing(async (client) => {
      const { rowCount } = await client.query(REVOKE, [client_id, account_id]);
      return rowCount !== 0;
    });
  }

  /** For an operator: revokes the key of any user. */
  revokeAny(client_id: string, recordAction: WriteDown): Promise<boolean> {
    return this.changing(async (client) => {
      const { rowCount } = await client.query(REVOKE, [client_id, null]);
      if (rowCount === 0) return false;
      await recordAction(client);
      return true;
    });
  }

  private async insert(
    client: PoolClient,
    account_id: string,
    key: KeyTerms & { readonly preset?: Preset; readonly scopes: readonly string[] },
  ): Promise<IssuedKey> {
    const triple = newTriple();
    await client.query(INSERT, [
      ...[triple.client_id, account_id, key.name, key.preset ?? null, key.scopes, key.ip_allow_list ?? []],
      ...[key.orders_per_minute ?? null, key.expires_at ?? null, this.seal.digestOf(triple)],
    ]);
    return { triple, row: await this.row(client, triple.client_id) };
  }

  private async row(client: PoolClient, client_id: string): Promise<ListedKey> {
    const { rows } = await client.query<ListedKey>(`${LISTED_KEYS} and k.client_id = $1`, [client_id]);
    const [row] = rows;
    if (row === undefined) throw new Error('the key written in this transaction cannot be read');
    return row;
  }

  /** Applies the change here at once, without waiting for the next poll. */
  private async changing<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const result = await withTransaction(this.pool, 'read committed', work);
    await this.watch.refresh().catch(() => undefined);
    return result;
  }
}
