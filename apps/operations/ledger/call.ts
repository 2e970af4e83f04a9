import { normalInstant } from '#libs/edge/decoding/instant-text.js';
import type { ContractFacts } from '#libs/auction/rules/commands.js';
import type { RouteKey } from '#libs/auction/admission/policy/policy-snapshot.js';
import { parseCommandLine } from '#libs/platform/terminal/command-line.js';

export const USAGE = `Usage: npm run ledger -- <command> [options] [--output json]

  contract   registers a contract, which trades from then on; what is registered is never changed
  market     makes a registered contract trade, pause, or close for good
  open       enters what an account has paid in or delivered, once for each reference
  limit      sets the most that an account may hold on a venue, or put at stake on all of them together
  show       contracts, balances and limits, and what each account still lacks to trade

  contract   --venue <venue> --contract-id <id> --outcome <outcome> --title <text> --equivalence-id <id>
             --price-tick-atoms <n> --quantity-step-atoms <n> --closes-at <2027-01-31T12:00:00Z>
  market     --venue <venue> --contract-id <id> --outcome <outcome> --status TRADING|PAUSED|CLOSED
  open       --account <account> --venue <venue> --amount-atoms <n> --reference <text>
             and for tokens of a contract instead of collateral: --contract-id <id> --outcome <outcome>
  limit      --account <account> --amount-atoms <n>, and --venue <venue> for the limit on that venue alone
  show       --account <account> for that one alone

An account is its id or its e-mail address. Amounts are whole atoms, millionths of a dollar or of a contract. Nothing is ever taken out:
what is still promised is known to owners alone.

  --output json      one JSON document instead of text; so is a fault, as the last line on standard error
  --help             this text

The database is that of DATABASE_URL, as the role that owns the tables, else that of the cluster on DATA_DIR (.data), which is
started for the time where no cluster runs.
Exit codes: 0 done, or done before; 1 refused; 64 called wrongly; 69 no database, or no right to it; 78 a wrong setting.`;

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

export type Call = { readonly json: boolean } & (
  | { readonly command: 'contract'; readonly contract: ContractFacts }
  | { readonly command: 'market'; readonly contract: RouteKey; readonly status: ContractFacts['status'] }
  | OpenCall
  | LimitCall
  | { readonly command: 'show'; readonly account: string | undefined }
);

/** What was typed is no call. */
export class UsageFault extends Error {}

const text = { type: 'string' } as const;
const OPTIONS = {
  venue: text,
  'contract-id': text,
  outcome: text,
  title: text,
  'equivalence-id': text,
  'price-tick-atoms': text,
  'quantity-step-atoms': text,
  'closes-at': text,
  status: text,
  account: text,
  'amount-atoms': text,
  reference: text,
} as const;

type Name = keyof typeof OPTIONS;
type Given = Readonly<Partial<Record<Name, string>>>;

const ROUTE: readonly Name[] = ['venue', 'contract-id', 'outcome'];
const OF_CONTRACT: readonly Name[] = [
  ...ROUTE,
  'title',
  'equivalence-id',
  'price-tick-atoms',
  'quantity-step-atoms',
  'closes-at',
];
/** What each command takes; anything else would be ignored without a word. */
const TAKES: Readonly<Record<Call['command'], readonly Name[]>> = {
  contract: OF_CONTRACT,
  market: [...ROUTE, 'status'],
  open: ['account', ...ROUTE, 'amount-atoms', 'reference'],
  limit: ['account', 'venue', 'amount-atoms'],
  show: ['account'],
};
const STATUSES: readonly ContractFacts['status'][] = ['TRADING', 'PAUSED', 'CLOSED'];
const VENUE = /^[a-z0-9_]{1,64}$/;
/** No slash, which divides contract and outcome in the name of a token. */
const CONTRACT_ID = /^[^\s/\p{C}]{1,64}$/u;
const OUTCOME = /^(?=\S)[^/\p{C}\p{Zl}\p{Zp}]{1,64}(?<=\S)$/u;
const SAYING = /^(?=\S)[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<=\S)$/u;
const WHOLE_SECONDS = /:\d\dZ$/;
const DEAREST_TICK = 999_999;

/** Undefined where nothing but help is wanted. */
export function callOf(args: readonly string[]): Call | undefined {
  const { values, positionals } = typed(args);
  const { help, output, ...given } = values;
  if (help === true) return undefined;
  if (output !== undefined && output !== 'json') throw new UsageFault('the only other output is json');
  const [word, ...more] = positionals;
  if (word === undefined || !isCommand(word)) {
    throw new UsageFault(`expected one of ${Object.keys(TAKES).join(', ')}`);
  }
  if (more.length > 0) throw new UsageFault(`what is ${more.join(' ')}?`);
  const strange = Object.keys(given).find((name) => !TAKES[word].some((taken) => taken === name));
  if (strange !== undefined) throw new UsageFault(`${word} has no --${strange}`);
  return { json: output === 'json', ...commandOf(word, given) };
}

function typed(args: readonly string[]) {
  try {
    return parseCommandLine({
      args: [...args],
      allowPositionals: true,
      options: { ...OPTIONS, output: text, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

function isCommand(word: string): word is Call['command'] {
  return Object.hasOwn(TAKES, word);
}

/** A union of commands is given the same field beside each of them. */
type Plain<C> = C extends unknown ? Omit<C, 'json'> : never;

function commandOf(command: Call['command'], given: Given): Plain<Call> {
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
        venue: given.venue === undefined ? undefined : venueOf(given),
        amountAtoms: wholeOf(given, 'amount-atoms', 0),
      };
    case 'show':
      return { command, account: given.account };
  }
}

function openingOf(given: Given): OpenCall {
  const isToken = given['contract-id'] !== undefined || given.outcome !== undefined;
  return {
    command: 'open',
    account: wanted(given, 'account'),
    venue: venueOf(given),
    contract: isToken ? routeOf(given) : undefined,
    amountAtoms: wholeOf(given, 'amount-atoms', 1),
    reference: matching(given, 'reference', SAYING, 'has 1 to 200 characters that can be seen'),
  };
}

function contractOf(given: Given): ContractFacts {
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

function routeOf(given: Given): RouteKey {
  return {
    venue: venueOf(given),
    contract_id: matching(given, 'contract-id', CONTRACT_ID, 'is a word such as a-rate-cut-june'),
    outcome: matching(given, 'outcome', OUTCOME, 'is a word such as YES'),
  };
}

function venueOf(given: Given): string {
  return matching(given, 'venue', VENUE, 'is a word such as venue_a');
}

function statusOf(given: Given): ContractFacts['status'] {
  const found = STATUSES.find((status) => status === wanted(given, 'status'));
  if (found === undefined) throw new UsageFault(`--status is one of ${STATUSES.join(', ')}`);
  return found;
}

function instantOf(given: Given): string {
  const said = wanted(given, 'closes-at');
  const instant = WHOLE_SECONDS.test(said) ? normalInstant(said) : undefined;
  if (instant === undefined)
    throw new UsageFault('--closes-at is a moment in UTC such as 2027-01-31T12:00:00Z');
  return instant;
}

function wholeOf(given: Given, name: Name, least: number, most: number = Number.MAX_SAFE_INTEGER): number {
  const said = wanted(given, name);
  const value = /^\d{1,16}$/.test(said) ? Number(said) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageFault(`--${name} is a whole number from ${least} to ${most}`);
}

function matching(given: Given, name: Name, pattern: RegExp, otherwise: string): string {
  const said = wanted(given, name);
  if (!pattern.test(said)) throw new UsageFault(`--${name} ${otherwise}`);
  return said;
}

function wanted(given: Given, name: Name): string {
  const said = given[name];
  if (said === undefined || said === '') throw new UsageFault(`--${name} is missing`);
  return said;
}
