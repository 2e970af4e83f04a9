import { normalInstant } from '#libs/edge/decoding/instant-text.js';
import type { ContractFacts } from '#libs/auction/rules/commands.js';
import type { RouteKey } from '#libs/auction/admission/policy/policy-snapshot.js';
import {
  OUTPUT_OPTION,
  UsageFault,
  type CommandArea,
  type GivenOptions,
  type OptionTable,
  type ParsedCall,
} from '#libs/platform/terminal/commands.js';

const ROUTE_OPTIONS = {
  venue: { type: 'string', value: 'venue', text: 'such as venue_a' },
  'contract-id': { type: 'string', value: 'id', text: 'the id of the contract at its venue' },
  outcome: { type: 'string', value: 'outcome', text: 'such as YES' },
} as const satisfies OptionTable;
const ACCOUNT_OPTION = {
  account: { type: 'string', value: 'account', text: 'its id or its e-mail address' },
} as const satisfies OptionTable;
const AMOUNT_OPTION = {
  'amount-atoms': {
    type: 'string',
    value: 'n',
    text: 'whole atoms, millionths of a dollar or of a contract',
  },
} as const satisfies OptionTable;

export const LEDGER = {
  name: 'ledger',
  commands: [
    {
      name: 'contract',
      operands: [],
      options: {
        ...ROUTE_OPTIONS,
        title: { type: 'string', value: 'text', text: 'the title that people read' },
        'equivalence-id': {
          type: 'string',
          value: 'id',
          text: 'the same id for contracts that settle alike',
        },
        'price-tick-atoms': { type: 'string', value: 'n', text: 'prices are multiples of it' },
        'quantity-step-atoms': { type: 'string', value: 'n', text: 'quantities are multiples of it' },
        'closes-at': { type: 'string', value: 'instant', text: 'in UTC, such as 2027-01-31T12:00:00Z' },
        ...OUTPUT_OPTION,
      },
      summary: 'registers a contract, which trades at once; its terms never change',
    },
    {
      name: 'market',
      operands: [],
      options: {
        ...ROUTE_OPTIONS,
        status: { type: 'string', value: 'status', text: 'TRADING, PAUSED or CLOSED' },
        ...OUTPUT_OPTION,
      },
      summary: 'opens, pauses or closes a registered contract; closing is final',
    },
    {
      name: 'open',
      operands: [],
      options: {
        ...ACCOUNT_OPTION,
        ...ROUTE_OPTIONS,
        ...AMOUNT_OPTION,
        reference: {
          type: 'string',
          value: 'text',
          text: 'reference of the payment; each reference is entered once',
        },
        ...OUTPUT_OPTION,
      },
      summary: 'enters a payment or delivery of an account, once for each reference',
      explanation: [
        'Enters collateral on a venue, or tokens of a contract with --contract-id and --outcome. There are no withdrawals: only owners',
        'know how much is still promised.',
      ],
    },
    {
      name: 'limit',
      operands: [],
      options: { ...ACCOUNT_OPTION, venue: ROUTE_OPTIONS.venue, ...AMOUNT_OPTION, ...OUTPUT_OPTION },
      summary: 'sets the position limit of an account on a venue, or its exposure limit over all venues',
      explanation: ['With --venue: the limit on that venue. Without: the limit over all venues.'],
    },
    {
      name: 'show',
      operands: [],
      options: { ...ACCOUNT_OPTION, ...OUTPUT_OPTION },
      summary: 'shows contracts, balances and limits, and what each account lacks to trade',
    },
  ],
  notes: [
    'Uses the database of DATABASE_URL, as the role that owns the tables, else that of the cluster in DATA_DIR (.data), and starts it for',
    'this call where no cluster runs.',
    'Exit codes: 0 done, now or before; 1 refused; 64 wrong usage; 69 no database, or no right to use it; 78 a wrong setting.',
  ],
} as const satisfies CommandArea;

type LedgerCommand = (typeof LEDGER)['commands'][number];

export interface OpenCall {
  readonly command: 'open';
  readonly account: string;
  readonly venue: string;
  /** Undefined for collateral. */
  readonly contract: RouteKey | undefined;
  readonly amountAtoms: number;
  readonly reference: string;
}

export interface LimitCall {
  readonly command: 'limit';
  readonly account: string;
  /** Undefined for the limit over all venues. */
  readonly venue: string | undefined;
  readonly amountAtoms: number;
}

export type LedgerCall = { readonly json: boolean } & (
  | { readonly command: 'contract'; readonly contract: ContractFacts }
  | { readonly command: 'market'; readonly contract: RouteKey; readonly status: ContractFacts['status'] }
  | OpenCall
  | LimitCall
  | { readonly command: 'show'; readonly account: string | undefined }
);

const STATUSES: readonly ContractFacts['status'][] = ['TRADING', 'PAUSED', 'CLOSED'];
const VENUE = /^[a-z0-9_]{1,64}$/;
/** No slash: it separates contract and outcome in the name of a token. */
const CONTRACT_ID = /^[^\s/\p{C}]{1,64}$/u;
const OUTCOME = /^(?=\S)[^/\p{C}\p{Zl}\p{Zp}]{1,64}(?<=\S)$/u;
const LINE_OF_TEXT = /^(?=\S)[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<=\S)$/u;
const WHOLE_SECONDS = /:\d\dZ$/;
const MAX_TICK = 999_999;

export function callOf({ command, options, json }: ParsedCall<LedgerCommand>): LedgerCall {
  return { json, ...commandOf(command.name, options) };
}

/** Omits `json` from each member of the union; plain `Omit` would merge them. */
type Plain<C> = C extends unknown ? Omit<C, 'json'> : never;

function commandOf(command: LedgerCall['command'], options: GivenOptions): Plain<LedgerCall> {
  switch (command) {
    case 'contract':
      return { command, contract: contractOf(options) };
    case 'market':
      return { command, contract: routeOf(options), status: statusOf(options) };
    case 'open':
      return openingOf(options);
    case 'limit':
      return {
        command,
        account: required(options, 'account'),
        venue: options.text('venue') === undefined ? undefined : venueOf(options),
        amountAtoms: wholeOf(options, 'amount-atoms', 0),
      };
    case 'show':
      return { command, account: options.text('account') };
  }
}

function openingOf(options: GivenOptions): OpenCall {
  const isToken = options.text('contract-id') !== undefined || options.text('outcome') !== undefined;
  return {
    command: 'open',
    account: required(options, 'account'),
    venue: venueOf(options),
    contract: isToken ? routeOf(options) : undefined,
    amountAtoms: wholeOf(options, 'amount-atoms', 1),
    reference: matching(options, 'reference', LINE_OF_TEXT, 'must have 1 to 200 visible characters'),
  };
}

function contractOf(options: GivenOptions): ContractFacts {
  return {
    ...routeOf(options),
    title: matching(options, 'title', LINE_OF_TEXT, 'must have 1 to 200 visible characters'),
    equivalence_id: matching(options, 'equivalence-id', CONTRACT_ID, 'must be a word such as rate-cut-june'),
    price_tick_atoms: wholeOf(options, 'price-tick-atoms', 1, MAX_TICK),
    quantity_step_atoms: wholeOf(options, 'quantity-step-atoms', 1),
    status: 'TRADING',
    closes_at: instantOf(options),
  };
}

function routeOf(options: GivenOptions): RouteKey {
  return {
    venue: venueOf(options),
    contract_id: matching(options, 'contract-id', CONTRACT_ID, 'must be a word such as a-rate-cut-june'),
    outcome: matching(options, 'outcome', OUTCOME, 'must be a word such as YES'),
  };
}

function venueOf(options: GivenOptions): string {
  return matching(options, 'venue', VENUE, 'must be a name such as venue_a');
}

function statusOf(options: GivenOptions): ContractFacts['status'] {
  const found = STATUSES.find((status) => status === required(options, 'status'));
  if (found === undefined) throw new UsageFault(`--status must be one of ${STATUSES.join(', ')}`);
  return found;
}

function instantOf(options: GivenOptions): string {
  const raw = required(options, 'closes-at');
  const instant = WHOLE_SECONDS.test(raw) ? normalInstant(raw) : undefined;
  if (instant === undefined)
    throw new UsageFault('--closes-at must be a time in UTC such as 2027-01-31T12:00:00Z');
  return instant;
}

function wholeOf(
  options: GivenOptions,
  name: string,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  const raw = required(options, name);
  const value = /^\d{1,16}$/.test(raw) ? Number(raw) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageFault(`--${name} must be a whole number from ${min} to ${max}`);
}

function matching(options: GivenOptions, name: string, pattern: RegExp, otherwise: string): string {
  const raw = required(options, name);
  if (!pattern.test(raw)) throw new UsageFault(`--${name} ${otherwise}`);
  return raw;
}

function required(options: GivenOptions, name: string): string {
  const raw = options.text(name);
  if (raw === undefined || raw === '') throw new UsageFault(`--${name} is missing`);
  return raw;
}
