import { parseCommandLine } from '#libs/platform/terminal/command-line.js';

/** What is asked for. */
export interface SeedCall {
  readonly completed: number;
  readonly open: number;
  /** Makers invited to each auction. */
  readonly audience: number;
  /** Quotes in each completed and in each open auction. */
  readonly quotes: { readonly completed: number; readonly open: number };
}

export const USAGE = `Usage: npm run -s seed -- [--completed n] [--open n] [--audience n] [--quotes n]

Fills the cluster that runs on DATA_DIR (.data) for measuring, and ends with a line of JSON. The owners are stopped meanwhile, and
started again when everything is projected.

  --completed n   auctions that are over; one in a hundred of them was awarded and settled on the ledger
  --open n        auctions that stay open for a day
  --audience n    makers invited to each (default 8)
  --quotes n      quotes in each auction (default 1 in completed and 10 in open ones)
  --help          this text

Start the cluster with LOAD_ACCOUNTS: accounts for load take part where there are any, else those of the demo.`;

/** Called in a way that the program does not know. */
export class UsageFault extends Error {}

const AUDIENCE = 8;
const MAX_AUDIENCE = 64;
const QUOTES = { completed: 1, open: 10 };
const MAX_AUCTIONS = 10_000_000;

/** Undefined where only help is wanted. */
export function callOf(args: readonly string[]): SeedCall | undefined {
  const values = valuesOf(args);
  if (values.help === true) return undefined;
  const completed = count('--completed', values.completed, 0, MAX_AUCTIONS);
  const open = count('--open', values.open, 0, MAX_AUCTIONS);
  if (completed + open === 0) throw new UsageFault('say how many auctions: --completed n or --open n');
  const quotes = {
    completed: count('--quotes', values.quotes, QUOTES.completed, MAX_AUDIENCE),
    open: count('--quotes', values.quotes, QUOTES.open, MAX_AUDIENCE),
  };
  const quoting = Math.max(completed > 0 ? quotes.completed : 0, open > 0 ? quotes.open : 0);
  const audience = count('--audience', values.audience, Math.max(AUDIENCE, quoting), MAX_AUDIENCE);
  if (quoting > audience) throw new UsageFault('each maker quotes once: --quotes is at most --audience');
  if (audience === 0) throw new UsageFault('--audience is at least 1');
  return { completed, open, audience, quotes };
}

function valuesOf(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = {
    completed: text,
    open: text,
    audience: text,
    quotes: text,
    help: { type: 'boolean', short: 'h' },
  } as const;
  try {
    return parseCommandLine({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageFault(error instanceof Error ? error.message : String(error));
  }
}

function count(name: string, text: string | undefined, usual: number, highest: number): number {
  if (text === undefined) return usual;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= highest) return value;
  throw new UsageFault(`${name} is a number from 0 to ${highest}`);
}
