import { openPool } from '#libs/platform/database/postgres.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { visible, visibleJson } from '#libs/platform/terminal/visible-text.js';
import { AccountService } from '../accounts/account-service.js';
import { CommandFault, EXIT_REFUSED } from '../ops/arguments.js';
import { type Column, table } from '../ops/table.js';
import { type AccountState, type LedgerState, readLedgerState } from './ledger-state.js';
import type { LedgerCall } from './call.js';
import { LedgerService, nameOf } from './ledger-service.js';
import type { Pool } from 'pg';
import { EXIT, StartFault } from '#libs/platform/process/start-fault.js';

export interface LedgerPorts {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly say: (line: string) => void;
}

/** The result as JSON and as lines for people. */
interface Output {
  readonly document: object;
  readonly lines: readonly string[];
}

const CONTRACTS: readonly Column<LedgerState['contracts'][number]>[] = [
  { head: 'VENUE', cell: ({ venue }) => venue },
  { head: 'CONTRACT', cell: ({ contract_id: id }) => id },
  { head: 'OUTCOME', cell: ({ outcome }) => outcome },
  { head: 'STATUS', cell: ({ status }) => status },
  { head: 'CLOSES', cell: ({ closes_at: at }) => `${at.slice(0, 19)}Z` },
  { head: 'TITLE', cell: ({ title }) => title },
];

/** Runs one command. Throws when it cannot be done, and then nothing was changed. */
export async function runLedger(call: LedgerCall, { databaseUrl, clock, say }: LedgerPorts): Promise<void> {
  const pool = openPool(databaseUrl, { applicationName: 'ledger', max: 1 });
  try {
    const desk = new LedgerService(pool, clock);
    await refuseWhoOwnsNoTables(pool);
    const accountOf = async (emailOrId: string): Promise<string> => {
      const known = (await new AccountService(pool, clock).list()).find(
        ({ account_id: id, email }) => id === emailOrId || email.toLowerCase() === emailOrId.toLowerCase(),
      );
      if (known === undefined) throw new CommandFault(`there is no account ${emailOrId}`, EXIT_REFUSED);
      return known.account_id;
    };
    const { document, lines } =
      call.command === 'show'
        ? shown(await readLedgerState(pool, clock), call.account)
        : await changed(call, desk, accountOf);
    for (const line of call.json ? [visibleJson(document)] : lines.map(visible)) say(line);
  } finally {
    await pool.end();
  }
}

async function changed(
  call: Exclude<LedgerCall, { readonly command: 'show' }>,
  desk: LedgerService,
  accountOf: (emailOrId: string) => Promise<string>,
): Promise<Output> {
  switch (call.command) {
    case 'contract': {
      const isNew = await desk.register(call.contract);
      const state = isNew ? 'is registered and trades' : 'was already registered with these terms';
      const document = { contract: call.contract, created: isNew };
      return { document, lines: [`${nameOf(call.contract)} ${state}`] };
    }
    case 'market': {
      const contract = await desk.setStatus(call.contract, call.status);
      return { document: { contract }, lines: [`${nameOf(contract)} is ${contract.status}`] };
    }
    case 'open': {
      const { opening, isNew } = await desk.open(await accountOf(call.account), call);
      const { account, venue, asset, amount, reference } = opening;
      const what = `${amount} atoms of ${asset === '' ? 'collateral' : asset} on ${venue}`;
      return {
        document: { account_id: account, venue, asset, amount_atoms: amount, reference, created: isNew },
        lines: [`${reference}: ${what} for ${account}, entered ${isNew ? 'now' : 'before'}`],
      };
    }
    case 'limit': {
      const { account, venue, resource, amount } = await desk.limit(await accountOf(call.account), call);
      return {
        document: { account_id: account, venue, resource, amount_atoms: amount },
        lines: [`${account}: at most ${amount} atoms ${venue === '' ? 'over all venues' : `on ${venue}`}`],
      };
    }
  }
}

function shown(ledgerState: LedgerState, emailOrId: string | undefined): Output {
  const accounts = ledgerState.accounts.filter(
    ({ account_id: id, email }) =>
      emailOrId === undefined || id === emailOrId || email?.toLowerCase() === emailOrId.toLowerCase(),
  );
  if (emailOrId !== undefined && accounts.length === 0) {
    throw new CommandFault(`there is no account ${emailOrId}`, EXIT_REFUSED);
  }
  if (emailOrId !== undefined) return { document: { accounts }, lines: accounts.flatMap(linesOf) };
  const { contracts } = ledgerState;
  return {
    document: { contracts, accounts },
    lines: [...table(CONTRACTS, contracts), ...accounts.flatMap((account) => ['', ...linesOf(account)])],
  };
}

function linesOf({ account_id: id, email, balances, limits, openings, lacks }: AccountState): string[] {
  return [
    `${email ?? 'an account without a login'} (${id})`,
    ...balances.map(
      ({ venue, asset, amount_atoms: amount }) => `  has ${amount} of ${assetName(asset)} on ${venue}`,
    ),
    ...limits.map(
      ({ venue, amount_atoms: amount }) =>
        `  at most ${amount} ${venue === '' ? 'over all venues' : `on ${venue}`}`,
    ),
    ...openings.map(
      ({ reference, venue, asset, amount_atoms: amount }) =>
        `  opened by ${reference}: ${amount} of ${assetName(asset)} on ${venue}`,
    ),
    ...lacks.map((lack) => `  LACKS: ${lack}`),
  ];
}

function assetName(asset: string): string {
  return asset === '' ? 'collateral' : asset;
}

const OWNER = `
  select pg_has_role(current_user, relowner, 'usage') as mine, current_user as name
  from pg_class where oid = to_regclass('custody.openings')`;

/** Only the role that owns the tables may enter money. Checked first, so that no command stops half way. */
export async function refuseWhoOwnsNoTables(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ mine: boolean; name: string }>(OWNER);
  const [owner] = rows;
  if (owner === undefined) {
    throw new StartFault('the database has no ledger yet: run the migration first', EXIT.unavailable);
  }
  if (!owner.mine) {
    const message = `${owner.name} does not own the tables: set DATABASE_URL as the role that does`;
    throw new StartFault(message, EXIT.unavailable);
  }
}
