import { openPool } from '#libs/platform/database/postgres.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { visible, visibleJson } from '#libs/platform/terminal/visible-text.js';
import { table, type Column } from '../ops/table.js';
import { AccountService, type AccountEntry } from './account-service.js';
import type { AccountCall } from './call.js';
import { newPassword, type Keyboard } from './new-password.js';

export interface AccountPorts {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly keyboard: Keyboard;
  readonly say: (line: string) => void;
}

const COLUMNS: readonly Column<AccountEntry>[] = [
  { head: 'EMAIL', cell: ({ email }) => email },
  { head: 'ACCOUNT', cell: ({ account_id: id }) => id },
  { head: 'NAME', cell: ({ display_name: name }) => name },
  { head: 'ROLES', cell: ({ roles }) => roles.join(' ') || '-' },
  { head: 'VENUES', cell: ({ venues }) => venues.join(' ') || '-' },
  { head: 'GROUP', cell: ({ control_group: group }) => group },
  { head: 'MARKET DATA', cell: ({ invited }) => (invited ? 'invited' : '-') },
  { head: 'STATE', cell: stateOf },
];

/** Runs one command. Throws CommandFault when it cannot be carried out. */
export async function runAccounts(
  call: AccountCall,
  { databaseUrl, clock, keyboard, say }: AccountPorts,
): Promise<void> {
  const pool = openPool(databaseUrl, { applicationName: 'accounts', max: 1 });
  const show = (document: object, lines: readonly string[]): void => {
    for (const line of call.json ? [visibleJson(document)] : lines.map(visible)) say(line);
  };
  try {
    const accountService = new AccountService(pool, clock);
    if (call.command === 'list') {
      const accounts = await accountService.list();
      show({ accounts }, table(COLUMNS, accounts));
      return;
    }
    const { document, message } = await changeOf(accountService, call, keyboard);
    show(document, [`${document.account.email} (${document.account.account_id}): ${message}`]);
  } finally {
    await pool.end();
  }
}

interface Change {
  readonly document: { readonly account: AccountEntry };
  readonly message: string;
}

async function changeOf(
  accountService: AccountService,
  call: Exclude<AccountCall, { readonly command: 'list' }>,
  keyboard: Keyboard,
): Promise<Change> {
  const { email } = call;
  const password = (): Promise<string> => newPassword(email, keyboard);
  switch (call.command) {
    case 'add': {
      const document = await accountService.add(email, call.terms, password);
      return {
        document,
        message: document.created ? 'added' : 'is up to date; its password was not changed',
      };
    }
    case 'disable':
      return {
        document: { account: await accountService.disable(email) },
        message: 'disabled, its sessions are ended',
      };
    case 'enable':
      return { document: { account: await accountService.enable(email) }, message: 'enabled' };
    case 'invite':
      return { document: { account: await accountService.invite(email) }, message: 'invited to market data' };
    case 'uninvite':
      return {
        document: { account: await accountService.uninvite(email) },
        message: 'not invited to market data',
      };
    case 'password':
      return {
        document: { account: await accountService.setPassword(email, password) },
        message: 'has the new password, its sessions are ended',
      };
  }
}

function stateOf({ disabled, enrolled, suspended }: AccountEntry): string {
  if (disabled) return 'disabled';
  if (!enrolled) return 'not enrolled';
  return suspended ? 'suspended' : 'enrolled';
}
