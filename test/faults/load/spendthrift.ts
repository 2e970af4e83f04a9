import type { ApiAnswer } from '#libs/client/api-client.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { Random } from '../../simulator/kernel/random.js';
import type { LoadCaller, WireCommand } from './caller.js';
import { cancelErrand, largeQuoteErrand, largeSaleErrand, withdrawErrand } from './deeds.js';
import type { AnsweredCommand, Overspending } from './transcript.js';

const SHARDS = [0, 1, 2];
/** Usually short, sometimes long enough for a fault in between. */
const MEANWHILE_MS = { least: 0, most: 600 };

/** The final answer to a command; undefined if there is none yet, and others repeat it. */
type Settle<Person> = (caller: Person, errand: WireCommand) => Promise<ApiAnswer | undefined>;

export interface SpendthriftParts<Person> {
  /** Does nothing else, so that its promises are all known. */
  readonly maker: Person;
  /** Opens auctions only for that maker, so that it disturbs no one else. */
  readonly patron: Person;
  readonly contracts: readonly ClusterContract[];
  readonly overspendings: Overspending[];
  readonly random: Random;
  readonly sleep: (millis: number) => Promise<unknown>;
}

/** A maker that promises more than half of its balance at a venue, and then as much again, in any shards. */
export class Spendthrift<Person extends Pick<LoadCaller, 'account'> = LoadCaller> {
  constructor(private readonly parts: SpendthriftParts<Person>) {}

  async overspend(settle: Settle<Person>): Promise<void> {
    const { patron, random } = this.parts;
    const auctions = await this.openSales(settle);
    await this.quoteIn(auctions, settle);
    await Promise.all(auctions.map((id) => settle(patron, cancelErrand(patron.account, id, random))));
  }

  /**
   * At one venue; usually in different shards, sometimes in one: other shards' reservations and its own are
   * summed separately.
   */
  private async openSales(settle: Settle<Person>): Promise<string[]> {
    const { maker, patron, contracts, random } = this.parts;
    const contract = random.pick(contracts);
    const errands = Array.from({ length: random.between(2, 3) }, () =>
      largeSaleErrand(patron.account, contract, maker.account, random.pick(SHARDS), random),
    );
    const answers = await Promise.all(errands.map((errand) => settle(patron, errand)));
    return answers.filter(isDone).map(({ body }) => (body as { readonly auction_id: string }).auction_id);
  }

  /** Strictly one after another: the checker relies on that order. */
  private async quoteIn([first, ...others]: readonly string[], settle: Settle<Person>): Promise<void> {
    const { maker, overspendings, random, sleep } = this.parts;
    if (first === undefined) return;
    const standing = largeQuoteErrand(maker.account, first, random);
    const answer = await settle(maker, standing);
    if (!isDone(answer)) return;
    const { quote_id: id, revision } = answer.body as {
      readonly quote_id: string;
      readonly revision: number;
    };
    const beside: Pick<AnsweredCommand, 'command' | 'status' | 'body'>[] = [];
    for (const other of others) {
      await sleep(random.between(MEANWHILE_MS.least, MEANWHILE_MS.most));
      const { command, ...errand } = largeQuoteErrand(maker.account, other, random);
      const last = await settle(maker, { command, ...errand });
      if (last !== undefined) beside.push({ command, status: last.status, body: last.text });
    }
    const withdrawal = withdrawErrand(maker.account, { id, auctionId: first, revision }, random);
    // The journal tells whether it was done; a lost answer proves nothing.
    overspendings.push({ standing: standing.command, beside, withdrawal: withdrawal.command });
    await settle(maker, withdrawal);
  }
}

function isDone(answer: ApiAnswer | undefined): answer is ApiAnswer {
  return answer?.status === 201 || answer?.status === 200;
}
