import type { ApiAnswer } from '#libs/client/api-client.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { Random } from '../../simulator/kernel/random.js';
import type { LoadCaller, WireCommand } from './caller.js';
import { cancelErrand, largeQuoteErrand, largeSaleErrand, withdrawErrand } from './deeds.js';
import type { AnsweredCommand, Overspending } from './transcript.js';

const SHARDS = [0, 1, 2];
/** Mostly short, sometimes long enough for a fault to come in between. */
const MEANWHILE_MS = { least: 0, most: 600 };

/** The last word on a command; undefined where there is none for now, and others go on asking. */
type Settle<Person> = (caller: Person, errand: WireCommand) => Promise<ApiAnswer | undefined>;

export interface SpendthriftParts<Person> {
  /** Does nothing else, so that nobody else's promises are in the way. */
  readonly maker: Person;
  /** Opens auctions for it alone, so that it is in nobody's way. */
  readonly patron: Person;
  readonly contracts: readonly ClusterContract[];
  readonly overspendings: Overspending[];
  readonly random: Random;
  readonly sleep: (millis: number) => Promise<unknown>;
}

/** A maker that promises more than half of what it has at a venue, and then as much again, in any shard. */
export class Spendthrift<Person extends Pick<LoadCaller, 'account'> = LoadCaller> {
  constructor(private readonly parts: SpendthriftParts<Person>) {}

  async overspend(settle: Settle<Person>): Promise<void> {
    const { patron, random } = this.parts;
    const auctions = await this.openSales(settle);
    await this.quoteIn(auctions, settle);
    await Promise.all(auctions.map((id) => settle(patron, cancelErrand(patron.account, id, random))));
  }

  /** At one venue; mostly in different shards, sometimes in one: what the others have and what is its own are summed up apart. */
  private async openSales(settle: Settle<Person>): Promise<string[]> {
    const { maker, patron, contracts, random } = this.parts;
    const contract = random.pick(contracts);
    const errands = Array.from({ length: random.between(2, 3) }, () =>
      largeSaleErrand(patron.account, contract, maker.account, random.pick(SHARDS), random),
    );
    const answers = await Promise.all(errands.map((errand) => settle(patron, errand)));
    return answers.filter(isDone).map(({ body }) => (body as { readonly auction_id: string }).auction_id);
  }

  /** Strictly one behind the other: that order is all that the checker goes by. */
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
    // Whether it is done is up to the journal; an answer that is lost says nothing of it.
    overspendings.push({ standing: standing.command, beside, withdrawal: withdrawal.command });
    await settle(maker, withdrawal);
  }
}

function isDone(answer: ApiAnswer | undefined): answer is ApiAnswer {
  return answer?.status === 201 || answer?.status === 200;
}
