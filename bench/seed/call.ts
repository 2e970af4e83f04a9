import { UsageFault, type CommandArea, type GivenOptions } from '#libs/platform/terminal/commands.js';

/** The options of one call. */
export interface SeedCall {
  readonly completed: number;
  readonly open: number;
  /** Makers invited to each auction. */
  readonly audience: number;
  /** Quotes in each completed and in each open auction. */
  readonly quotes: { readonly completed: number; readonly open: number };
}

export const SEED = {
  name: 'seed',
  commands: [
    {
      name: '',
      operands: [],
      options: {
        completed: {
          type: 'string',
          value: 'n',
          text: 'completed auctions; one in a hundred is awarded and settled in the ledger',
        },
        open: { type: 'string', value: 'n', text: 'auctions that stay open for a day' },
        audience: { type: 'string', value: 'n', text: 'makers invited to each auction (default 8)' },
        quotes: {
          type: 'string',
          value: 'n',
          text: 'quotes in each auction (default 1 in completed and 10 in open ones)',
        },
      },
      summary: 'fills a cluster with auctions for measuring',
      explanation: [
        'Fills the cluster that runs in DATA_DIR (.data), and prints a line of JSON at the end. The owners are stopped for that time, and',
        'started again once everything is projected. Start the cluster with LOAD_ACCOUNTS: load accounts take part if there are any,',
        'else the demo accounts.',
      ],
    },
  ],
  notes: [],
} as const satisfies CommandArea;

const AUDIENCE = 8;
const MAX_AUDIENCE = 64;
const QUOTES = { completed: 1, open: 10 };
const MAX_AUCTIONS = 10_000_000;

export function callOf(options: GivenOptions): SeedCall {
  const completed = count('--completed', options.text('completed'), 0, MAX_AUCTIONS);
  const open = count('--open', options.text('open'), 0, MAX_AUCTIONS);
  if (completed + open === 0)
    throw new UsageFault('the number of auctions is missing: --completed n or --open n');
  const quotes = {
    completed: count('--quotes', options.text('quotes'), QUOTES.completed, MAX_AUDIENCE),
    open: count('--quotes', options.text('quotes'), QUOTES.open, MAX_AUDIENCE),
  };
  const quoting = Math.max(completed > 0 ? quotes.completed : 0, open > 0 ? quotes.open : 0);
  const audience = count('--audience', options.text('audience'), Math.max(AUDIENCE, quoting), MAX_AUDIENCE);
  if (quoting > audience) throw new UsageFault('each maker quotes once: --quotes must be at most --audience');
  if (audience === 0) throw new UsageFault('--audience must be at least 1');
  return { completed, open, audience, quotes };
}

function count(name: string, text: string | undefined, fallback: number, highest: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= highest) return value;
  throw new UsageFault(`${name} must be a number from 0 to ${highest}`);
}
