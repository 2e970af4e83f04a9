import { keyOf, type Tables } from '../storage/tables.js';
import { activeQuotes, type AuctionFile } from './auction-file.js';
import { amountIn, nameOf, rounded } from './holds.js';
import type { RawAward, RawHold } from './raw-events.js';
import { checkStated } from './stated-means.js';
import { must } from './violation.js';

const SET_ASIDE = 'reservations to the atom';
const COVERED = 'promises are covered';
const LEDGER = 'the ledger to the atom';
const IN_TIME = 'the execution deadline';
const PREFERRED = 'routes are taken in their order';

export type Sums = Map<string, number>;

/** Compares what the journals reserve with the reservations, the evidence and the ledger, at every moment. */
export class MoneyBook {
  /** What the auctions of each shard hold. */
  private readonly held: readonly Sums[] = [new Map(), new Map(), new Map()];
  /** The sum over all shards, without awards that the ledger has already settled. */
  private readonly promised: Sums = new Map();
  private readonly counted = new Map<string, { readonly held: Sums; readonly promised: Sums }>();
  private readonly balances: Sums = new Map();
  private readonly settled = new Map<string, 'SETTLED' | 'FAILED'>();

  constructor(
    private readonly tables: Tables,
    private readonly findAward: (
      awardId: string,
    ) => { readonly file: AuctionFile; readonly award: RawAward } | undefined,
    /** Whether every award can be settled on its first route, because all that it needs is reserved. */
    private readonly isCalm: boolean,
  ) {
    for (const [key, { amount }] of tables.balances.rows) this.balances.set(key, amount);
  }

  outcomeOf(awardId: string): 'SETTLED' | 'FAILED' | undefined {
    return this.settled.get(awardId);
  }

  /** Called when the auction has changed or one of its awards was settled. */
  recount(file: AuctionFile): void {
    const before = this.counted.get(file.id);
    const held = sumsOf(file, () => false);
    const promised = sumsOf(file, (awardId) => this.settled.get(awardId) === 'SETTLED');
    const sums = this.held[file.shard];
    if (sums === undefined) throw new RangeError(`there is no shard ${file.shard}`);
    shift(sums, before?.held, held);
    shift(this.promised, before?.promised, promised);
    this.counted.set(file.id, { held, promised });
    for (const name of held.keys()) this.checkReserved(file.shard, name);
    for (const name of promised.keys()) this.checkCovered(name);
  }

  /** Called after each commit to the database. */
  onCommit(workedAt: string): void {
    const { settlements, reserved } = this.tables;
    for (const [awardId, { outcome, venue, delivered_atoms: delivered }] of settlements.rows) {
      const known = this.settled.get(awardId);
      must(
        known === undefined || known === outcome,
        LEDGER,
        () => `${awardId} was ${known ?? ''} and is ${outcome}`,
      );
      if (known !== undefined) continue;
      this.settled.set(awardId, outcome);
      if (outcome === 'SETTLED') this.settle(awardId, venue ?? '', delivered, workedAt);
    }
    for (const [shard, sums] of this.held.entries()) {
      for (const [name, amount] of sums) {
        if (amount > 0 && (reserved.rows.get(name)?.[shard] ?? 0) < amount) this.checkReserved(shard, name);
      }
    }
  }

  /** At rest the table of reservations must equal what the journals say. */
  checkAtRest(): void {
    for (const [name, amounts] of this.tables.reserved.rows) {
      for (const [shard, amount] of amounts.entries()) {
        const held = this.held[shard]?.get(name) ?? 0;
        must(
          amount === held,
          SET_ASIDE,
          () => `shard ${shard} has ${amount} of ${readable(name)}, its auctions hold ${held}`,
        );
      }
    }
    this.checkBalances();
    checkStated(this.tables, this.balances);
  }

  /**
   * A reservation is made before its event and released after it, so the reserved amount never falls below the
   * promised one.
   */
  private checkReserved(shard: number, name: string): void {
    const held = this.held[shard]?.get(name) ?? 0;
    const reserved = this.tables.reserved.rows.get(name)?.[shard] ?? 0;
    must(
      reserved >= held,
      SET_ASIDE,
      () => `shard ${shard} has ${reserved} of ${readable(name)}, its auctions hold ${held}`,
    );
  }

  private checkCovered(name: string): void {
    const evidence = this.tables.evidence.rows.get(name)?.amount ?? 0;
    const promised = this.promised.get(name) ?? 0;
    must(
      promised <= evidence,
      COVERED,
      () => `${promised} of ${readable(name)} are promised, there are ${evidence}`,
    );
  }

  private settle(
    awardId: string,
    venue: string,
    reported: number | null | undefined,
    workedAt: string,
  ): void {
    const found = this.findAward(awardId);
    must(found !== undefined, LEDGER, () => `${awardId} was settled but never awarded`);
    const { file, award } = found;
    const { terms, executionDeadline: deadline = '' } = file;
    // The commit may come later; the settler checks the time after its last wait.
    must(workedAt <= deadline, IN_TIME, () => `${awardId} is settled at ${workedAt}, after ${deadline}`);
    const originator = terms.originator.account_id;
    const isBuy = terms.side === 'BUY';
    const [buyer, seller] = isBuy ? [originator, award.maker] : [award.maker, originator];
    const sellerHold = isBuy ? award.maker_hold : award.originator_hold;
    const route = terms.routes.find((one) => one.venue === venue);
    must(route !== undefined, LEDGER, () => `${awardId} was settled at ${venue}`);
    must(
      !this.isCalm || route === terms.routes[0],
      PREFERRED,
      () => `${awardId} was settled at ${venue}, and nothing prevented ${terms.routes[0]?.venue ?? ''}`,
    );
    const token = `${route.contract_id}/${route.outcome}`;
    const complement = `${route.contract_id}/${route.outcome === 'YES' ? 'NO' : 'YES'}`;
    const { price_atoms: price, quantity_atoms: quantity } = award;
    const owned = this.balances.get(keyOf(seller, venue, token)) ?? 0;
    const delivered = Math.min(quantity, owned, amountIn(sellerHold, venue, 'OUTCOME_TOKEN', token));
    must(
      reported === delivered,
      LEDGER,
      () => `${awardId} reports that ${reported ?? 'nothing'} of ${delivered} was delivered`,
    );
    const issued = quantity - delivered;
    this.move(keyOf(buyer, venue, ''), -rounded(price, quantity));
    this.move(keyOf(seller, venue, ''), rounded(price, delivered) - rounded(1_000_000 - price, issued));
    this.move(keyOf(buyer, venue, token), quantity);
    this.move(keyOf(seller, venue, token), -delivered);
    this.move(keyOf(seller, venue, complement), issued);
    this.checkBalances();
    checkStated(this.tables, this.balances, new Set([buyer, seller]));
    this.recount(file);
  }

  private move(key: string, by: number): void {
    this.balances.set(key, (this.balances.get(key) ?? 0) + by);
  }

  /** Every account has its initial balance plus what its awards brought; the sums stay the same. */
  private checkBalances(): void {
    const sums = new Map<string, number>();
    for (const [key, { account, venue, asset, amount }] of this.tables.balances.rows) {
      const kind = keyOf(venue, asset);
      sums.set(kind, (sums.get(kind) ?? 0) + amount);
      if (account.startsWith('system:')) continue;
      const expected = this.balances.get(key) ?? 0;
      must(
        amount === expected && amount >= 0,
        LEDGER,
        () => `${readable(key)} is ${amount} instead of ${expected}`,
      );
    }
    for (const [kind, sum] of sums) must(sum === 0, LEDGER, () => `${readable(kind)} sums up to ${sum}`);
  }
}

/** All amounts that an auction holds now. */
export function sumsOf(file: AuctionFile, isSettled: (awardId: string) => boolean): Sums {
  const sums: Sums = new Map();
  const add = (account: string, hold: readonly RawHold[]): void => {
    for (const one of hold)
      sums.set(nameOf(account, one), (sums.get(nameOf(account, one)) ?? 0) + one.amount);
  };
  const originator = file.terms.originator.account_id;
  if (file.stage === 'OPEN' || file.stage === 'CLOSED') {
    add(originator, file.hold);
    for (const quote of activeQuotes(file)) add(quote.maker, quote.hold);
  }
  for (const { terms, stage } of file.awards.values()) {
    if (stage === 'CONFIRMED' || stage === 'FAILED' || isSettled(terms.award_id)) continue;
    add(terms.maker, terms.maker_hold);
    add(originator, terms.originator_hold);
  }
  return sums;
}

function shift(sums: Sums, before: Sums | undefined, after: Sums): void {
  for (const [name, amount] of before ?? []) sums.set(name, (sums.get(name) ?? 0) - amount);
  for (const [name, amount] of after) sums.set(name, (sums.get(name) ?? 0) + amount);
}

function readable(name: string): string {
  return name.replaceAll('\u0000', '/');
}
