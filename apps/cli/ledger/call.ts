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
  'contract-id': { type: 'string', value: 'id', text: 'the contract, as its venue calls it' },
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
        title: { type: 'string', value: 'text', text: 'what people read' },
        'equivalence-id': {
          type: 'string',
          value: 'id',
          text: 'the same for contracts that stand for each other',
        },
        'price-tick-atoms': { type: 'string', value: 'n', text: 'prices are multiples of it' },
        'quantity-step-atoms': { type: 'string', value: 'n', text: 'quantities are multiples of it' },
        'closes-at': { type: 'string', value: 'instant', text: 'in UTC, such as 2027-01-31T12:00:00Z' },
        ...OUTPUT_OPTION,
      },
      summary: 'registers a contract, which trades from then on; what is registered is never changed',
    },
    {
      name: 'market',
      operands: [],
      options: {
        ...ROUTE_OPTIONS,
        status: { type: 'string', value: 'status', text: 'TRADING, PAUSED or CLOSED' },
        ...OUTPUT_OPTION,
      },
      summary: 'makes a registered contract trade, pause, or close for good',
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
          text: 'of the payment; the same reference is entered once',
        },
        ...OUTPUT_OPTION,
      },
      summary: 'enters what an account has paid in or delivered, once for each reference',
      explanation: [
        'Collateral of a venue, or with --contract-id and --outcome tokens of that contract. Nothing is ever taken out: what is still',
        'promised is known to owners alone.',
      ],
    },
    {
      name: 'limit',
      operands: [],
      options: { ...ACCOUNT_OPTION, venue: ROUTE_OPTIONS.venue, ...AMOUNT_OPTION, ...OUTPUT_OPTION },
      summary: 'sets the most that an account may hold on a venue, or put at stake on all of them together',
      explanation: ['With --venue the limit on that venue alone, else that on all of them together.'],
    },
    {
      name: 'show',
      operands: [],
      options: { ...ACCOUNT_OPTION, ...OUTPUT_OPTION },
      summary: 'contracts, balances and limits, and what each account still lacks to trade',
    },
  ],
  notes: [
    'The database is that of DATABASE_URL, as the role that owns the tables, else that of the cluster on DATA_DIR (.data), which is started for',
    'the time where no cluster runs.',
    'Exit codes: 0 done, or done before; 1 refused; 64 called wrongly; 69 no database, or no right to it; 78 a wrong setting.',
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
/** No slash, which divides contract and outcome in the name of a token. */
const CONTRACT_ID = /^[^\s/\p{C}]{1,64}$/u;
const OUTCOME = /^(?=\S)[^/\p{C}\p{Zl}\p{Zp}]{1,64}(?<=\S)$/u;
const SAYING = /^(?=\S)[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<=\S)$/u;
const WHOLE_SECONDS = /:\d\dZ$/;
const DEAREST_TICK = 999_999;

export function callOf({ command, options, json }: ParsedCall<LedgerCommand>): LedgerCall {
  return { json, ...commandOf(command.name, options) };
}

/** A union of commands is given the same field beside each of them. */
type Plain<C> = C extends unknown ? Omit<C, 'json'> : never;

function commandOf(command: LedgerCall['command'], given: GivenOptions): Plain<LedgerCall> {
  switch (command) {
    case 'contract':
      return { command, contract: contractOf(given) };
    case 'market':
      return { command, contract: routeOf(given), status: statusOf(given) };
    case 'open':
      return openingOf(given);
    case 'limit':
      return {
        command,
        account: wanted(given, 'account'),
        venue: given.text('venue') === undefined ? undefined : venueOf(given),
        amountAtoms: wholeOf(given, 'amount-atoms', 0),
      };
    case 'show':
      return { command, account: given.text('account') };
  }
}

function openingOf(given: GivenOptions): OpenCall {
  const isToken = given.text('contract-id') !== undefined || given.text('outcome') !== undefined;
  return {
    command: 'open',
    account: wanted(given, 'account'),
    venue: venueOf(given),
    contract: isToken ? routeOf(given) : undefined,
    amountAtoms: wholeOf(given, 'amount-atoms', 1),
    reference: matching(given, 'reference', SAYING, 'has 1 to 200 characters that can be seen'),
  };
}

function contractOf(given: GivenOptions): ContractFacts {
  return {
    ...routeOf(given),
    title: matching(given, 'title', SAYING, 'has 1 to 200 characters that can be seen'),
    equivalence_id: matching(given, 'equivalence-id', CONTRACT_ID, 'is a word such as rate-cut-june'),
    price_tick_atoms: wholeOf(given, 'price-tick-atoms', 1, DEAREST_TICK),
    quantity_step_atoms: wholeOf(given, 'quantity-step-atoms', 1),
    status: 'TRADING',
    closes_at: instantOf(given),
  };
}

function routeOf(given: GivenOptions): RouteKey {
  return {
    venue: venueOf(given),
    contract_id: matching(given, 'contract-id', CONTRACT_ID, 'is a word such as a-rate-cut-june'),
    outcome: matching(given, 'outcome', OUTCOME, 'is a word such as YES'),
  };
}

function venueOf(given: GivenOptions): string {
  return matching(given, 'venue', VENUE, 'is a word such as venue_a');
}

function statusOf(given: GivenOptions): ContractFacts['status'] {
  const found = STATUSES.find((status) => status === wanted(given, 'status'));
  if (found === undefined) throw new UsageFault(`--status is one of ${STATUSES.join(', ')}`);
  return found;
}

function instantOf(given: GivenOptions): string {
  const said = wanted(given, 'closes-at');
  const instant = WHOLE_SECONDS.test(said) ? normalInstant(said) : undefined;
  if (instant === undefined)
    throw new UsageFault('--closes-at is a moment in UTC such as 2027-01-31T12:00:00Z');
  return instant;
}

function wholeOf(
  given: GivenOptions,
  name: string,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  const said = wanted(given, name);
  const value = /^\d{1,16}$/.test(said) ? Number(said) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageFault(`--${name} is a whole number from ${least} to ${most}`);
}

function matching(given: GivenOptions, name: string, pattern: RegExp, otherwise: string): string {
  const said = wanted(given, name);
  if (!pattern.test(said)) throw new UsageFault(`--${name} ${otherwise}`);
  return said;
}

function wanted(given: GivenOptions, name: string): string {
  const said = given.text(name);
  if (said === undefined || said === '') throw new UsageFault(`--${name} is missing`);
  return said;
}
