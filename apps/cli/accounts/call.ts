import {
  OUTPUT_OPTION,
  UsageFault,
  type CommandArea,
  type GivenOptions,
  type OptionTable,
  type ParsedCall,
} from '#libs/platform/terminal/commands.js';
import { MAX_EMAIL_LENGTH } from '#libs/identity/accounts/email.js';
import { CAPABILITIES, ROLES, type Capability, type Role } from '#libs/auction/protocol/enrolment.js';

const EMAIL_OPERAND = [{ name: 'email' }] as const;
const ADD_OPTIONS = {
  name: { type: 'string', value: 'name', text: 'the name that others see where they may see it' },
  role: { type: 'string', multiple: true, value: 'role', text: ROLES.join(', ') },
  venue: { type: 'string', multiple: true, value: 'venue', text: 'a venue where it may trade' },
  'max-quantity-atoms': {
    type: 'string',
    value: 'n',
    default: '0',
    text: 'the most it may trade at a time, in millionths of a contract',
  },
  'control-group': {
    type: 'string',
    value: 'name',
    text: 'accounts of one group never meet in an auction',
  },
  capability: {
    type: 'string',
    multiple: true,
    value: 'capability',
    text: `${CAPABILITIES.join(', ')} or none; default: both`,
  },
  'account-id': {
    type: 'string',
    value: 'id',
    text: 'the id of a new account, if journals already name it; default: a new id',
  },
  ...OUTPUT_OPTION,
} as const satisfies OptionTable;

export const ACCOUNTS = {
  name: 'accounts',
  commands: [
    {
      name: 'add',
      operands: EMAIL_OPERAND,
      options: ADD_OPTIONS,
      summary: 'adds an account, or updates an existing one to these options',
    },
    { name: 'list', operands: [], options: OUTPUT_OPTION, summary: 'all accounts' },
    {
      name: 'disable',
      operands: EMAIL_OPERAND,
      options: OUTPUT_OPTION,
      summary: 'ends its sessions, and stops logins and invitations; its quotes stay',
    },
    {
      name: 'enable',
      operands: EMAIL_OPERAND,
      options: OUTPUT_OPTION,
      summary: 'undoes disable; the sessions stay ended',
    },
    {
      name: 'invite',
      operands: EMAIL_OPERAND,
      options: OUTPUT_OPTION,
      summary: 'lets its sessions read market data; keys and operators need no invite',
    },
    {
      name: 'uninvite',
      operands: EMAIL_OPERAND,
      options: OUTPUT_OPTION,
      summary: 'undoes invite',
    },
    {
      name: 'password',
      operands: EMAIL_OPERAND,
      options: OUTPUT_OPTION,
      summary: 'sets a new password and ends its sessions',
    },
  ],
  notes: [
    'Anyone who trades (ORIGINATOR, MARKET_MAKER) needs a venue and a quantity. A new password is asked for twice, or is the first line of',
    'standard input where that is no terminal. It has at least 15 characters. add asks for one only if the account is new.',
    'Uses the database of DATABASE_URL, else that of the cluster in DATA_DIR (.data), and starts it for this call where no cluster runs.',
  ],
} as const satisfies CommandArea;

type AccountCommand = (typeof ACCOUNTS)['commands'][number];

export interface AccountTerms {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly capabilities: readonly Capability[];
  readonly venues: readonly string[];
  readonly maxQuantityAtoms: number;
  readonly controlGroup?: string;
  /** The id of an account that is entered again: the one that its awards name. */
  readonly accountId?: string;
}

export type AccountCall = { readonly json: boolean } & (
  | { readonly command: 'list' }
  | { readonly command: 'disable' | 'enable' | 'invite' | 'uninvite' | 'password'; readonly email: string }
  | { readonly command: 'add'; readonly email: string; readonly terms: AccountTerms }
);

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const NAME = /^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const VENUE = /^[a-z0-9_]{1,64}$/;
const TRADING: ReadonlySet<Role> = new Set<Role>(['ORIGINATOR', 'MARKET_MAKER']);

export function callOf({ command, operands, options, json }: ParsedCall<AccountCommand>): AccountCall {
  const [email] = operands;
  switch (command.name) {
    case 'list':
      return { command: 'list', json };
    case 'add':
      return { command: 'add', json, email: addressIn(email), terms: termsIn(options) };
    default:
      return { command: command.name, json, email: addressIn(email) };
  }
}

function termsIn(options: GivenOptions): AccountTerms {
  const roles = wordsIn(options.texts('role') ?? [], ROLES, 'role');
  if (roles.length === 0) throw new UsageFault('--role is missing');
  const venues = [...new Set(options.texts('venue') ?? [])];
  const maxQuantityAtoms = atomsIn(options.text('max-quantity-atoms') ?? '');
  const name = options.text('name');
  if (name === undefined || !NAME.test(name)) {
    throw new UsageFault('--name must have 1 to 64 visible characters');
  }
  if (!venues.every((venue) => VENUE.test(venue))) throw new UsageFault('a venue has a name such as venue_a');
  if (roles.some((role) => TRADING.has(role)) && (venues.length === 0 || maxQuantityAtoms === 0)) {
    throw new UsageFault('an account that trades needs --venue and --max-quantity-atoms');
  }
  const chosen = options.texts('capability') ?? CAPABILITIES;
  const capabilities = chosen.join() === 'none' ? [] : wordsIn(chosen, CAPABILITIES, 'capability');
  const group = options.text('control-group');
  const accountId = options.text('account-id');
  if (accountId !== undefined && !UUID.test(accountId)) {
    throw new UsageFault('--account-id must be a lower-case UUID');
  }
  return {
    name,
    roles,
    capabilities,
    venues,
    maxQuantityAtoms,
    ...(group === undefined || group === '' ? {} : { controlGroup: group }),
    ...(accountId === undefined ? {} : { accountId }),
  };
}

function wordsIn<W extends string>(values: readonly string[], words: readonly W[], option: string): W[] {
  const unknown = values.find((word) => !words.some((known) => known === word));
  if (unknown !== undefined) throw new UsageFault(`--${option} ${unknown}: expected ${words.join(', ')}`);
  return words.filter((word) => values.includes(word));
}

function atomsIn(text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new UsageFault('--max-quantity-atoms must be a whole number');
  return value;
}

function addressIn(text: string | undefined): string {
  if (text === undefined) throw new UsageFault('the e-mail address is missing');
  if (!EMAIL.test(text) || text.length > MAX_EMAIL_LENGTH)
    throw new UsageFault(`${text} is not an e-mail address`);
  return text;
}
