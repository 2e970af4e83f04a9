import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { LoggedCommand, PracticeVenueId, VenueFill, VenueOrder } from '#libs/practice/venue/terms.js';
import { VenueState } from '#libs/practice/venue/venue-state.js';
import { engineAccount, SHARDS } from '#libs/practice/venues/b/accounts.js';
import { VENUE_KINDS } from '#libs/practice/venues/venue-kinds.js';

/** Engines count money in millionths of a millionth. */
const CASH_OF_MICROS = 1_000_000n;

/** What a practice venue has done, from its log file alone, without asking the venue. */
export class VenueBooks {
  /** All prices that an order has had. */
  readonly prices: ReadonlyMap<string, readonly bigint[]>;
  private readonly state: VenueState;

  private constructor(
    readonly exchange_id: PracticeVenueId,
    commands: readonly LoggedCommand[],
  ) {
    this.state = new VenueState(VENUE_KINDS[exchange_id].rules);
    const prices = new Map<string, bigint[]>();
    for (const command of commands) {
      const { reply } = this.state.apply(command);
      if (!reply.ok) throw new Error(`${exchange_id} has a refused command on record: ${reply.refusal}`);
      if (command.do === 'place') prices.set(command.order.order_id, [BigInt(command.order.price)]);
      if (command.do === 'amend') prices.get(command.order_id)?.push(BigInt(command.price));
    }
    this.prices = prices;
  }

  static read(dataDir: string, exchange_id: PracticeVenueId): VenueBooks {
    const text = readFileSync(path.join(dataDir, 'practice', `${exchange_id}.log`), 'utf8');
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    // The venue of this same build wrote it.
    const commands = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LoggedCommand);
    return new VenueBooks(exchange_id, commands);
  }

  ordersOf(account: string): VenueOrder[] {
    return this.within(account).flatMap((one) => this.state.ordersOf(one));
  }

  fillsOf(account: string): VenueFill[] {
    return this.within(account).flatMap((one) => this.state.fillsOf(one));
  }

  shares(account: string, marketId: string, outcome: 0 | 1): bigint {
    const held = this.within(account).map((one) => this.state.holding(one, marketId, outcome).total);
    return BigInt(held.reduce((sum, size) => sum + size, 0));
  }

  cash(account: string): bigint {
    return this.within(account).reduce((sum, one) => sum + this.state.cash(one).total, 0n) / CASH_OF_MICROS;
  }

  /** What the venue itself holds for orders. */
  heldCash(account: string): bigint {
    return this.within(account).reduce((sum, one) => sum + this.state.cash(one).held, 0n) / CASH_OF_MICROS;
  }

  /** The engine's own accounts: venue b has one for each shard. */
  private within(account: string): string[] {
    return this.exchange_id === 'venue_b' ? SHARDS.map((shard) => engineAccount(account, shard)) : [account];
  }
}

export function feeOf({ fee }: VenueFill): bigint {
  return fee / CASH_OF_MICROS;
}
