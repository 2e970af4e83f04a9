import { UsageFault, type CommandArea, type GivenOptions } from '#libs/platform/terminal/commands.js';

/** What is asked for. */
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
          text: 'auctions that are over; one in a hundred of them was awarded and settled on the ledger',
        },
        open: { type: 'string', value: 'n', text: 'auctions that stay open for a day' },
        audience: { type: 'string', value: 'n', text: 'makers invited to each (8 unless given)' },
        quotes: {
          type: 'string',
          value: 'n',
          text: 'quotes in each auction (1 in completed and 10 in open ones unless given)',
        },
      },
      summary: 'fills a cluster for measuring',
      explanation: [
        'Fills the cluster that runs on DATA_DIR (.data) for measuring, and ends with a line of JSON. The owners are stopped meanwhile, and',
        'started again when everything is projected. Start the cluster with LOAD_ACCOUNTS: accounts for load take part where there are any,',
        'else those of the demo.',
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
  if (completed + open === 0) throw new UsageFault('say how many auctions: --completed n or --open n');
  const quotes = {
    completed: count('--quotes', options.text('quotes'), QUOTES.completed, MAX_AUDIENCE),
    open: count('--quotes', options.text('quotes'), QUOTES.open, MAX_AUDIENCE),
  };
  const quoting = Math.max(completed > 0 ? quotes.completed : 0, open > 0 ? quotes.open : 0);
  const audience = count('--audience', options.text('audience'), Math.max(AUDIENCE, quoting), MAX_AUDIENCE);
  if (quoting > audience) throw new UsageFault('each maker quotes once: --quotes is at most --audience');
  if (audience === 0) throw new UsageFault('--audience is at least 1');
  return { completed, open, audience, quotes };
}

function count(name: string, text: string | undefined, usual: number, highest: number): number {
  if (text === undefined) return usual;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= highest) return value;
  throw new UsageFault(`${name} is a number from 0 to ${highest}`);
}
