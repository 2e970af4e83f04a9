import type { Pool } from 'pg';
import { isCodedError } from '#libs/platform/process/start-fault.js';
import { SignerFailure, type SignerAccount } from '../protocol/signer-protocol.js';
import type { KeyOwner } from './key-management.js';

export interface SealedKey extends SignerAccount {
  readonly sealed: Buffer;
}

const COLUMNS = 'account, agent, key_id, public_key_pem, sealed';
const UNIQUE_VIOLATION = '23505';

/** The table of sealed keys: one for each user at each venue. */
export class SealedKeys {
  constructor(private readonly pool: Pool) {}

  async find({ user_id: user, venue }: KeyOwner): Promise<SealedKey | undefined> {
    const { rows } = await this.pool.query<KeyRow>(
      `select ${COLUMNS} from signer.keys where (user_id, venue) = ($1, $2)`,
      [user, venue],
    );
    return rows[0] === undefined ? undefined : keyOf(rows[0]);
  }

  /** Undefined if there is a key already. Of two concurrent calls, the first one wins. */
  async add(owner: KeyOwner, key: SealedKey): Promise<SealedKey | undefined> {
    const { rows } = await this.pool.query<KeyRow>(
      `insert into signer.keys (user_id, venue, ${COLUMNS}, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())
       on conflict (user_id, venue) do nothing returning ${COLUMNS}`,
      parametersOf(owner, key),
    );
    return rows[0] === undefined ? undefined : keyOf(rows[0]);
  }

  async replace(owner: KeyOwner, key: SealedKey): Promise<SealedKey> {
    await this.refusingOthersAccount(
      `insert into signer.keys (user_id, venue, ${COLUMNS}, created_at)
       values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())
       on conflict (user_id, venue) do update
       set account = excluded.account, agent = excluded.agent, key_id = excluded.key_id,
           public_key_pem = excluded.public_key_pem, sealed = excluded.sealed`,
      parametersOf(owner, key),
    );
    return key;
  }

  /** Whether this is the account of a user whose key is stored here. */
  async isAccount(venue: string, account: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      `select from signer.keys where venue = $1 and account = $2 and account <> ''`,
      [venue, account],
    );
    return rowCount === 1;
  }

  async count(): Promise<number> {
    const { rows } = await this.pool.query<{ keys: number }>('select count(*) as keys from signer.keys');
    return rows[0]?.keys ?? 0;
  }

  /** An account belongs to one user. If two users could sign for it, its money would be promised twice. */
  private async refusingOthersAccount(statement: string, parameters: unknown[]): Promise<void> {
    try {
      await this.pool.query(statement, parameters);
    } catch (error) {
      if (!isCodedError(error) || error.code !== UNIQUE_VIOLATION) throw error;
      throw new SignerFailure('SIGNER_REFUSED', 'the account belongs to another user');
    }
  }
}

interface KeyRow {
  readonly account: string;
  readonly agent: string | null;
  readonly key_id: string | null;
  readonly public_key_pem: string | null;
  readonly sealed: Buffer;
}

function keyOf({ account, agent, key_id: keyId, public_key_pem: pem, sealed }: KeyRow): SealedKey {
  return {
    account,
    ...(agent === null ? {} : { agent }),
    ...(keyId === null ? {} : { key_id: keyId }),
    ...(pem === null ? {} : { public_key_pem: pem }),
    sealed,
  };
}

function parametersOf({ user_id: user, venue }: KeyOwner, key: SealedKey): unknown[] {
  const { account, agent, key_id: keyId, public_key_pem: pem, sealed } = key;
  return [user, venue, account, agent ?? null, keyId ?? null, pem ?? null, sealed];
}
