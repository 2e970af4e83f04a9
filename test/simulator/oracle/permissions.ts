import { BEGINNING, NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Policies, PolicyPage } from './policy-book.js';
import type { RawRoute } from './raw-events.js';
import { must } from './violation.js';

const PERMITTED = 'whoever quotes may quote';
const FOUNDED = 'refusals are founded';
const NANOS_PER_MILLI_BIG = BigInt(NANOS_PER_MILLI);
const BEGINNING_MILLIS = Number(BEGINNING / NANOS_PER_MILLI_BIG);

/** A maker that has quoted, or would have, by the name of its command. */
export interface Quoting {
  readonly name: string;
  readonly maker: string;
  readonly routes: readonly RawRoute[];
}

/** Quotes, and refusals of quotes, held against what the policy said at that time. */
export class Permissions {
  constructor(
    private readonly policies: Policies,
    /** How far an owner's clock may be behind. */
    private readonly behindMillis: number,
  ) {}

  mustPermit(quoting: Quoting): void {
    const { name } = quoting;
    const pages = this.policies.pagesFor(name);
    const may = pages.some((page) => faultsOf(quoting, page).length === 0);
    must(
      may,
      PERMITTED,
      () => `${name}: ${pages.map((page) => faultsOf(quoting, page).join()).join(' or ')}`,
    );
  }

  mayRefuse(quoting: Quoting, error: string): void {
    const { name, maker } = quoting;
    const pages = this.policies.pagesFor(name);
    if (error === 'MMP_FROZEN') {
      // It is said until when, so an old word is as good as a new one.
      const since = this.policies.saidAt(name) - this.behindMillis;
      const isFounded = pages.some(
        ({ frozen }) => Date.parse(frozen.get(maker) ?? '') - BEGINNING_MILLIS >= since,
      );
      must(isFounded, FOUNDED, () => `${name}: ${error}, and nothing freezes it`);
      return;
    }
    if (!OF_POLICY.has(error)) return;
    const isFounded = pages.some((page) => faultsOf(quoting, page).includes(error));
    must(isFounded, FOUNDED, () => `${name}: ${error}, which no policy says`);
  }
}

const OF_POLICY: ReadonlySet<string> = new Set([
  'PRINCIPAL_SUSPENDED',
  'PRINCIPAL_NOT_ENTITLED',
  'MARKET_NOT_TRADABLE',
]);

/** All that speaks against a quote of this maker in an auction on these routes. */
function faultsOf({ maker, routes }: Quoting, { guests, markets }: PolicyPage): string[] {
  const guest = guests.get(maker);
  const isEntitled = guest?.is_maker === true && routes.every(({ venue }) => guest.venues.includes(venue));
  const areTrading = routes.every(({ venue, contract_id: contract, outcome }) => {
    return markets.get([venue, contract, outcome].join('/')) === 'TRADING';
  });
  return [
    ...(guest?.suspended === true ? ['PRINCIPAL_SUSPENDED'] : []),
    ...(isEntitled ? [] : ['PRINCIPAL_NOT_ENTITLED']),
    ...(areTrading ? [] : ['MARKET_NOT_TRADABLE']),
  ];
}
