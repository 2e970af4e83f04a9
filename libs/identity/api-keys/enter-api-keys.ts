import type { Pool } from 'pg';
import { isWellFormed, type KeyTriple, type TripleSeal } from './key-triple.js';
import { isGrantable, type Preset } from './scopes.js';

/** A key with a known triple, such as those of demo users. */
export interface EnteredKey extends KeyTriple {
  readonly account_id: string;
  readonly name: string;
  readonly preset?: Preset;
  readonly scopes: readonly string[];
  /** Without it the key is valid from every address. */
  readonly ip_allow_list?: readonly string[];
  readonly isRevoked?: boolean;
}

const ENTER = `
  insert into identity.api_keys (client_id, account_id, name, preset, scopes, ip_allow_list, digest, revoked_at, version)
  select client_id, account_id, name, preset, array(select jsonb_array_elements_text(scopes)),
    array(select jsonb_array_elements_text(listed)), decode(digest, 'hex'),
    case when revoked then date_trunc('milliseconds', clock_timestamp()) end, 0
  from jsonb_to_recordset($1) as s (client_id text, account_id uuid, name text, preset text, scopes jsonb, listed jsonb, digest text, revoked boolean)
  on conflict (client_id) do nothing`;

/** Enters keys with given triples. An existing key stays unchanged, also if it is revoked. */
export async function enterApiKeys(pool: Pool, seal: TripleSeal, keys: readonly EnteredKey[]): Promise<void> {
  const records = keys.map((key) => {
    if (!isWellFormed(key) || !key.scopes.every(isGrantable)) {
      throw new RangeError(`the API key ${key.client_id} is malformed, or has a scope that no key may have`);
    }
    const { client_id, account_id, name, preset = null, scopes, ip_allow_list: listed = [] } = key;
    const digest = seal.digestOf(key).toString('hex');
    return { client_id, account_id, name, preset, scopes, listed, digest, revoked: key.isRevoked === true };
  });
  await pool.query(ENTER, [JSON.stringify(records)]);
}
