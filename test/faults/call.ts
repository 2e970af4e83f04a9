import { parseArgs } from 'node:util';

export type Store = 'kafka' | 'postgres';

export interface FaultsCall {
  readonly seed: number;
  readonly minutes: number;
  readonly store: Store;
  /** Only faults whose names begin with one of these; empty for all. */
  readonly only: readonly string[];
  /** How many auctions are open when an owner is killed at the end; 0 leaves this out. */
  readonly openAuctions: number;
  readonly brokers: 1 | 3;
}

export const USAGE = `usage: npm run faults -- [--seed N] [--minutes M] [--store kafka|postgres] [--brokers 1|3]
                         [--only kill,cut:owner] [--open-auctions N]`;

/** Undefined if the arguments are invalid. Without a chosen seed, `chance` is the seed. */
export function readCall(args: readonly string[], chance: number): FaultsCall | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        seed: { type: 'string', default: String(chance) },
        minutes: { type: 'string', default: '10' },
        store: { type: 'string', default: 'kafka' },
        brokers: { type: 'string', default: '3' },
        only: { type: 'string', default: '' },
        'open-auctions': { type: 'string', default: '10000' },
      },
    });
    const [seed, minutes, openAuctions] = [values.seed, values.minutes, values['open-auctions']].map(Number);
    const { store, brokers } = values;
    if (!isWhole(seed) || !isWhole(openAuctions) || minutes === undefined || !(minutes > 0)) return undefined;
    if (store !== 'kafka' && store !== 'postgres') return undefined;
    if (brokers !== '1' && brokers !== '3') return undefined;
    const only = values.only.split(',').filter((name) => name !== '');
    return { seed, minutes, store, only, openAuctions, brokers: brokers === '1' ? 1 : 3 };
  } catch {
    return undefined;
  }
}

function isWhole(number: number | undefined): number is number {
  return number !== undefined && Number.isSafeInteger(number) && number >= 0;
}
