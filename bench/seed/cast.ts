import type { CreateBody, SubmitBody } from '#libs/auction/rules/commands.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import type { SeedCluster } from './place.js';

/**
 * Auctions that invite the rare viewer, and the least number that the first originator opens, if there are
 * enough.
 */
const RARE = 12;
const OF_THE_FIRST = 100;
const CONTRACT_ATOMS = 1_000_000;
const LARGEST_CONTRACTS = 5;
const RESERVE_ATOMS = 450_000;
const PER_HUNDRED = 100;
/** The number of different prices of an auction's quotes. */
const PRICES = 8;

type Contract = SeedCluster['contracts'][number];

/** The accounts, contract and terms of each auction, by its number. Equal calls give equal auctions. */
export class SeedAccounts {
  readonly rareViewer: string;
  private readonly originators: readonly string[];
  private readonly makers: readonly string[];
  private readonly contracts: readonly Contract[];
  private readonly rareEvery: number;
  private readonly firstEvery: number;

  constructor(
    cluster: SeedCluster,
    private readonly audience: number,
    total: number,
  ) {
    this.originators = accountsOf(cluster, 'ORIGINATOR', 'originator');
    const makers = accountsOf(cluster, 'MARKET_MAKER', 'maker');
    const rare = makers.at(-1);
    if (rare === undefined || makers.length <= audience || this.originators.length === 0) {
      throw new StartFault(
        `an audience of ${audience} needs more makers than ${makers.length}: start the cluster with LOAD_ACCOUNTS=makers:512,originators:64`,
      );
    }
    this.rareViewer = rare;
    this.makers = makers.slice(0, -1);
    this.contracts = cluster.contracts;
    this.rareEvery = Math.max(1, Math.floor(total / RARE));
    this.firstEvery = Math.max(1, Math.min(this.originators.length, Math.floor(total / OF_THE_FIRST)));
  }

  /** The originator whose auctions are sampled. */
  get firstOriginator(): string {
    return pick(this.originators, 0);
  }

  originator(number: number): string {
    if (number % this.firstEvery === 0 || this.originators.length === 1) return this.firstOriginator;
    return pick(this.originators, 1 + (number % (this.originators.length - 1)));
  }

  invited(number: number): string[] {
    const from = number * this.audience;
    const makers = Array.from({ length: this.audience }, (_, place) => pick(this.makers, from + place));
    if (number % this.rareEvery === this.rareEvery - 1) makers[0] = this.rareViewer;
    return makers;
  }

  /** One auction in a hundred is awarded. */
  isAwarded(number: number): boolean {
    return number % PER_HUNDRED === PER_HUNDRED - 1;
  }

  create(number: number, durationMs: number): CreateBody {
    const { venue, contract_id, outcome } = this.contractOf(number);
    return {
      side: number % 2 === 0 ? 'BUY' : 'SELL',
      quantity_atoms: quantityOf(number),
      routes: [{ venue, contract_id, outcome }],
      limit_price_atoms: RESERVE_ATOMS,
      duration_ms: durationMs,
      audience: { market_maker_ids: this.invited(number) },
    };
  }

  /** `counts`: whether the price meets the originator's limit. */
  quote(number: number, place: number, counts: boolean): SubmitBody {
    const { price_tick_atoms: tick } = this.contractOf(number);
    const isBetterLower = number % 2 === 0;
    const distance = tick * (1 + (place % PRICES));
    return {
      price_atoms: RESERVE_ATOMS + (isBetterLower === counts ? -distance : distance),
      quantity_atoms: quantityOf(number),
    };
  }

  private contractOf(number: number): Contract {
    return pick(this.contracts, number);
  }
}

function quantityOf(number: number): number {
  return CONTRACT_ATOMS * (1 + (number % LARGEST_CONTRACTS));
}

function accountsOf({ demo }: SeedCluster, role: string, name: string): string[] {
  const ofRole = demo.users.filter(({ roles, email }) => roles.includes(role) && email.includes(`${name}-`));
  const load = ofRole.filter(({ email }) => email.startsWith('load-'));
  return (load.length > 0 ? load : ofRole).map(({ account_id: id }) => id);
}

function pick<T>(from: readonly T[], index: number): T {
  const found = from[index % from.length];
  if (found === undefined) throw new RangeError('nothing to pick from');
  return found;
}
