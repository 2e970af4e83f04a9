import { parseCommandLine } from '#libs/platform/terminal/command-line.js';
import { MAX_EMAIL_LENGTH } from '#libs/identity/accounts/email.js';
import { CAPABILITIES, ROLES, type Capability, type Role } from '#libs/auction/protocol/enrolment.js';

export const USAGE = `Usage: npm run accounts -- <command> [options] [--output json]

  add <email>        enters an account, or makes one that is there what the options say
  list               all accounts
  disable <email>    ends its sessions, lets it log in no more and invites it no more; its quotes stand
  enable <email>     undoes that; the sessions stay ended
  password <email>   gives it another password and ends its sessions

Options of add:
  --name <name>                 what others see where they may see it
  --role <role>                 ${ROLES.join(', ')}; repeat it for several
  --venue <venue>               where it may trade; repeat it for several
  --max-quantity-atoms <n>      the most it may trade at a time, in millionths of a contract
  --control-group <name>        accounts of one group never meet in an auction
  --capability <capability>     ${CAPABILITIES.join(', ')} or none; both unless given
  --account-id <id>             the id that a new account gets, for one that the journals know already; else a new one

Whoever trades (ORIGINATOR, MARKET_MAKER) needs a venue and a quantity. A new password is asked for twice, or is the first
line of standard input where that is no terminal; it has 15 characters at least. add asks for one only if the account is new.

  --output json      one JSON document instead of text; so is a fault, as the last line on standard error
  --help             this text

The database is that of DATABASE_URL, else that of the cluster on DATA_DIR (.data), which is started for the
time where no cluster runs.`;

export interface Terms {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly capabilities: readonly Capability[];
  readonly venues: readonly string[];
  readonly maxQuantityAtoms: number;
  readonly controlGroup?: string;
  /** Of an account that is entered again: the one that its awards name. */
  readonly accountId?: string;
}

export type Call = { readonly json: boolean } & (
  | { readonly command: 'list' }
  | { readonly command: 'disable' | 'enable' | 'password'; readonly email: string }
  | { readonly command: 'add'; readonly email: string; readonly terms: Terms }
);

/** What was typed is no call. */
export class UsageFault extends Error {}

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const NAME = /^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const VENUE = /^[a-z0-9_]{1,64}$/;
const TRADING: ReadonlySet<Role> = new Set<Role>(['ORIGINATOR', 'MARKET_MAKER']);

const ADD_OPTIONS = {
  name: { type: 'string' },
  role: { type: 'string', multiple: true },
  venue: { type: 'string', multiple: true },
  'max-quantity-atoms': { type: 'string' },
  'control-group': { type: 'string' },
  capability: { type: 'string', multiple: true },
  'account-id': { type: 'string' },
} as const;

/** Undefined where nothing but help is wanted. */
export function callOf(args: readonly string[]): Call | undefined {
  const { values, positionals } = typed(args);
  const { help, output, ...options } = values;
  if (help === true) return undefined;
  if (output !== undefined && output !== 'json') throw new UsageFault('the only other output is json');
  const json = output === 'json';
  const [command, email, ...more] = positionals;
  if (more.length > 0) throw new UsageFault(`what is ${more.join(' ')}?`);
  if (command !== 'add' && Object.keys(options).length > 0)
    throw new UsageFault('these options are those of add');
  switch (command) {
    case 'list':
      if (email !== undefined) throw new UsageFault('list takes no address');
      return { command, json };
    case 'disable':
    case 'enable':
    case 'password':
      return { command, json, email: addressIn(email) };
    case 'add':
      return { command, json, email: addressIn(email), terms: termsIn(options) };
    default:
      throw new UsageFault('expected one of add, list, disable, enable, password');
  }
}

function typed(args: readonly string[]) {
  try {
    return parseCommandLine({
      args: [...args],
      allowPositionals: true,
      options: {
        ...ADD_OPTIONS,
        output: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

type AddOptions = Omit<ReturnType<typeof typed>['values'], 'help' | 'output'>;

function termsIn(given: AddOptions): Terms {
  const roles = wordsIn(given.role ?? [], ROLES, 'role');
  if (roles.length === 0) throw new UsageFault('--role is missing');
  const venues = [...new Set(given.venue ?? [])];
  const maxQuantityAtoms = atomsIn(given['max-quantity-atoms'] ?? '0');
  if (given.name === undefined || !NAME.test(given.name)) {
    throw new UsageFault('--name wants 1 to 64 characters that can be seen');
  }
  if (!venues.every((venue) => VENUE.test(venue))) throw new UsageFault('a venue is a word such as venue_a');
  if (roles.some((role) => TRADING.has(role)) && (venues.length === 0 || maxQuantityAtoms === 0)) {
    throw new UsageFault('whoever trades needs --venue and --max-quantity-atoms');
  }
  const capabilities =
    given.capability?.join() === 'none'
      ? []
      : wordsIn(given.capability ?? CAPABILITIES, CAPABILITIES, 'capability');
  const group = given['control-group'];
  const accountId = given['account-id'];
  if (accountId !== undefined && !UUID.test(accountId)) {
    throw new UsageFault('--account-id wants an id, which is a lower-case UUID');
  }
  return {
    name: given.name,
    roles,
    capabilities,
    venues,
    maxQuantityAtoms,
    ...(group === undefined || group === '' ? {} : { controlGroup: group }),
    ...(accountId === undefined ? {} : { accountId }),
  };
}

function wordsIn<W extends string>(given: readonly string[], words: readonly W[], option: string): W[] {
  const strange = given.find((word) => !words.some((known) => known === word));
  if (strange !== undefined) throw new UsageFault(`--${option} ${strange}: expected ${words.join(', ')}`);
  return words.filter((word) => given.includes(word));
}

function atomsIn(text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new UsageFault('--max-quantity-atoms wants a whole number');
  return value;
}

function addressIn(text: string | undefined): string {
  if (text === undefined) throw new UsageFault('whose? Give the e-mail address');
  if (!EMAIL.test(text) || text.length > MAX_EMAIL_LENGTH)
    throw new UsageFault(`${text} is no e-mail address`);
  return text;
}
