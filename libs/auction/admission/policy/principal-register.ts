import type { Pool, PoolClient } from 'pg';
import type { Atoms } from '#libs/base/money.js';

/** What an account may do, as operators decided. */
export interface Registration {
  readonly account_id: string;
  readonly display_name: string;
  readonly is_maker: boolean;
  readonly is_originator: boolean;
  readonly venues: readonly string[];
  /** The largest quantity of one trade. */
  readonly max_quantity_atoms: Atoms;
  /** The house. Accounts of one house never meet in an auction. */
  readonly control_group?: string;
}

export interface PrincipalState extends Registration {
  readonly suspended: boolean;
}

interface StateRow extends Omit<PrincipalState, 'control_group'> {
  readonly control_group: string | null;
}

const STATES = `
  select account_id, display_name, is_maker, is_originator, suspended, venues, max_quantity_atoms, control_group
  from control.principals join control.accounts_policy using (account_id)`;

const REGISTER = `
  with named as (
    insert into control.principals as p (account_id, display_name, is_maker, is_originator) values ($1, $2, $3, $4)
    on conflict (account_id) do update set display_name = excluded.display_name, is_maker = excluded.is_maker,
      is_originator = excluded.is_originator
  )
  insert into control.accounts_policy
    (account_id, may_quote, may_create, venues, max_quantity_atoms, control_group) values ($1, $3, $4, $5, $6, $7)
  on conflict (account_id) do update set may_quote = excluded.may_quote, may_create = excluded.may_create,
    venues = excluded.venues, max_quantity_atoms = excluded.max_quantity_atoms, control_group = excluded.control_group`;

/** The registered accounts and their policy. Owners follow a change within a second. */
export class PrincipalRegister {
  constructor(private readonly database: Pool | PoolClient) {}

  /** Registers an account or overwrites its registration. Does not change whether it is suspended. */
  async enter(registration: Registration): Promise<void> {
    const { account_id, display_name, is_maker, is_originator, venues, max_quantity_atoms } = registration;
    await this.database.query(REGISTER, [
      account_id,
      display_name,
      is_maker,
      is_originator,
      venues,
      max_quantity_atoms,
      registration.control_group ?? null,
    ]);
  }

  /** All accounts, suspended or not. */
  async standings(): Promise<readonly PrincipalState[]> {
    const { rows } = await this.database.query<StateRow>(STATES);
    return rows.map(({ control_group, ...row }) =>
      control_group === null ? row : { ...row, control_group },
    );
  }

  async suspend(account: string, suspended: boolean): Promise<void> {
    await this.database.query(
      'update control.accounts_policy set suspended = $2 where account_id = $1 and suspended <> $2',
      [account, suspended],
    );
  }
}
