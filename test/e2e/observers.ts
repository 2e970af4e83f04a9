import type { Trader, TradingFloor } from './trading-floor.js';

/** The observer of an auction in which others may or may not quote. */
export type ObserverRole = 'originator' | 'quoting maker' | 'silent maker';
export const OBSERVERS: readonly ObserverRole[] = ['originator', 'quoting maker', 'silent maker'];

/** What each could see, with ids and times normalized. */
export type Transcripts = Readonly<Record<ObserverRole, readonly string[]>>;

/** What others do between two steps of a script. */
export type Meanwhile = (auctionId: string) => Promise<unknown>;

export interface ObservedAccounts {
  readonly originator: Trader;
  readonly quoting: Trader;
  readonly silent: Trader;
  readonly competitors: readonly [Trader, Trader];
}

export async function castFrom(floor: TradingFloor): Promise<ObservedAccounts> {
  const [originator, quoting, silent, loud, fickle] = await floor.newTraders(
    ...(['originator', 'maker', 'maker', 'maker', 'maker'] as const),
  );
  return { originator, quoting, silent, competitors: [loud, fickle] };
}

/** A better quote, a worse one, revisions, a withdrawal, a refusal. */
export async function noise(
  { competitors: [loud, fickle] }: ObservedAccounts,
  auctionId: string,
): Promise<void> {
  const [standing] = await loud.myQuotes(auctionId);
  if (standing === undefined) await loud.quotes(auctionId, 400_000, 10);
  else await loud.revise(standing, { price_atoms: standing.price_atoms - 1_000 });
  await loud.submit(auctionId, { price_atoms: 1, quantity_atoms: 1 });
  const [active] = (await fickle.myQuotes(auctionId)).filter(({ status }) => status === 'ACTIVE');
  if (active === undefined) await fickle.quotes(auctionId, 600_000, 5);
  else await fickle.withdraw(active);
}

/** Gives each id the same short name wherever it appears. */
export class NormalizedNames {
  private readonly ids = new Map<string, string>();

  plain(text: string): string {
    return text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => this.nameOf(id))
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z/g, '<time>');
  }

  private nameOf(id: string): string {
    const name = this.ids.get(id) ?? `<id ${this.ids.size + 1}>`;
    this.ids.set(id, name);
    return name;
  }
}
