import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer } from '#libs/client/api-client.js';
import type { ClusterContract } from '#libs/testing/cluster/cluster-file.js';
import type { Random } from '../../simulator/kernel/random.js';
import { FamiliarKeys } from '../../simulator/people/familiar-keys.js';
import type { LoadCaller, WireCommand } from './caller.js';
import {
  cancelErrand,
  createErrand,
  reviseErrand,
  submitErrand,
  withdrawAllErrand,
  withdrawErrand,
  type HeardAuction,
  type HeardQuote,
} from './deeds.js';
import type { CampaignListener } from './listener.js';
import type { Spendthrift } from './spendthrift.js';
import type { Transcript } from './transcript.js';

const PAUSE_MS = {
  originator: { least: 250, most: 700 },
  maker: { least: 60, most: 260 },
  spendthrift: { least: 200, most: 900 },
};
const KNOWN = 40;
/** The share of reads that pick any auction at all. */
const NOSY = 0.2;
const TURNS_BETWEEN_WITHDRAW_ALLS = 30;
/** A withdraw-all picks from this many of the latest auctions. */
const SOME = 20;

interface Created {
  readonly auction_id: string;
  readonly audience: { readonly market_maker_ids: readonly string[] };
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
  readonly quantity_atoms: number;
}

interface Quoted {
  readonly quote_id: string;
  readonly auction_id: string;
  readonly revision: number;
  readonly status: string;
}

export interface CrowdParts {
  readonly originators: readonly LoadCaller[];
  readonly makers: readonly LoadCaller[];
  readonly spendthrift: Spendthrift;
  /** Streams of makers, by account. */
  readonly listeners: ReadonlyMap<string, CampaignListener>;
  readonly contracts: readonly ClusterContract[];
  readonly transcript: Transcript;
  readonly random: Random;
}

/** Originators and makers at work, each with one action after another. */
export class CampaignWorkload {
  /** Only the latest. */
  private readonly auctions: HeardAuction[] = [];
  private readonly quotes = new Map<string, HeardQuote[]>();
  private readonly keys = new FamiliarKeys();
  private readonly turns = new Map<string, number>();
  private going = true;
  private hurries = false;
  private work: Promise<unknown>[] = [];
  /** Commands without a final answer. */
  readonly open: { readonly caller: LoadCaller; readonly errand: WireCommand }[] = [];

  constructor(private readonly parts: CrowdParts) {}

  start(): void {
    const { originators, makers, random } = this.parts;
    this.work = [
      ...originators.map((caller) => this.live(caller, random.fork(caller.name), 'originator')),
      ...makers.map((caller) => this.live(caller, random.fork(caller.name), 'maker')),
      this.spend(random.fork('spendthrift')),
    ];
  }

  /** Resolves when all users have stopped; `settleOpen` settles what is open then. */
  async stop(): Promise<void> {
    this.going = false;
    this.hurries = true;
    await Promise.all(this.work);
  }

  /** Repeats all open commands until each has a final answer or the patience ends. Returns how many are left. */
  async settleOpen(patienceMs: number): Promise<number> {
    const deadline = performance.now() + patienceMs;
    const givesUp = (): boolean => performance.now() > deadline;
    const answers = await Promise.all(
      this.open.splice(0).map(({ caller, errand }) => caller.settle(errand, givesUp)),
    );
    return answers.filter((answer) => answer === undefined).length;
  }

  private async live(caller: LoadCaller, random: Random, role: 'originator' | 'maker'): Promise<void> {
    const { least, most } = PAUSE_MS[role];
    while (this.going) {
      await (role === 'originator' ? this.originate(caller, random) : this.make(caller, random));
      await sleep(random.between(least, most));
    }
  }

  private async spend(random: Random): Promise<void> {
    const { least, most } = PAUSE_MS.spendthrift;
    while (this.going) {
      await this.parts.spendthrift.overspend((caller, errand) => this.settle(caller, errand));
      await sleep(random.between(least, most));
    }
  }

  private async originate(caller: LoadCaller, random: Random): Promise<void> {
    const { makers, contracts } = this.parts;
    const own = this.ownOf(caller);
    if (random.chance(0.15)) return this.lookAround(caller, random, own);
    if (random.chance(0.08) && own !== undefined) {
      await this.settle(caller, this.named(cancelErrand(caller.account, own.id, random), random));
      return;
    }
    const accounts = makers.map(({ account }) => account);
    const errand = createErrand(caller.account, random.pick(contracts), accounts, random);
    if (random.chance(0.1)) return caller.read('preflight', '/v1/auctions/preflight', { body: errand.body });
    const answer = await this.settle(caller, this.named(errand, random));
    if (answer?.status === 201 || answer?.status === 200) this.learnAuction(caller, answer.body);
  }

  private async make(caller: LoadCaller, random: Random): Promise<void> {
    const auction = this.someAuction(caller, random);
    if (auction === undefined) return;
    if (random.chance(0.2)) return this.lookAround(caller, random, auction);
    if (this.isTimeToTakeAllBack(caller)) {
      const ids = this.auctions.slice(-SOME).map(({ id }) => id);
      const venues = this.parts.contracts.map(({ venue }) => venue);
      const errand = withdrawAllErrand(caller.account, ids, venues, random);
      await this.settle(caller, this.named(errand, random));
      return;
    }
    const quote = this.quotes.get(caller.account)?.findLast(({ auctionId }) => auctionId === auction.id);
    if (quote === undefined)
      return this.submit(caller, this.named(submitErrand(caller.account, auction, random), random), random);
    const errand = random.chance(0.2)
      ? withdrawErrand(caller.account, quote, random)
      : reviseErrand(caller.account, auction, quote, random);
    this.learnQuote(caller, await this.settle(caller, this.named(errand, random)));
  }

  /** By turns rather than at random, so that even a short campaign has some. */
  private isTimeToTakeAllBack({ account }: LoadCaller): boolean {
    const turn = (this.turns.get(account) ?? 0) + 1;
    this.turns.set(account, turn);
    return turn % TURNS_BETWEEN_WITHDRAW_ALLS === 0;
  }

  /** Over the stream, if there is one; its reply must equal that to the same command over HTTP. */
  private async submit(caller: LoadCaller, errand: WireCommand, random: Random): Promise<void> {
    const listener = this.parts.listeners.get(caller.account);
    if (listener !== undefined && random.chance(0.3)) {
      const reply = await listener.submit(errand);
      if (reply !== undefined) {
        const { status } = reply;
        const refusal =
          reply.type === 'reject' ? { error: reply.error, ...messageOf(reply.message) } : reply.result;
        this.parts.transcript.answered.push({
          command: errand.command,
          status,
          body: JSON.stringify(refusal),
          shard: Number(errand.command.auctionId[0]),
          endedAt: performance.now(),
        });
      }
    }
    this.learnQuote(caller, await this.settle(caller, errand));
  }

  private named(errand: WireCommand, random: Random): WireCommand {
    const key = this.keys.keyFor(errand.command, random);
    return { ...errand, command: { ...errand.command, key } };
  }

  private async settle(caller: LoadCaller, errand: WireCommand): Promise<ApiAnswer | undefined> {
    const answer = await caller.settle(errand, () => this.hurries);
    if (answer === undefined) this.open.push({ caller, errand });
    return answer;
  }

  /** Sometimes reads an auction of others, which must not be found. */
  private async lookAround(caller: LoadCaller, random: Random, own: HeardAuction | undefined): Promise<void> {
    const isNosy = random.chance(NOSY) && this.auctions.length > 0;
    const auction = isNosy ? random.pick(this.auctions) : own;
    const path = `/v1/auctions/${auction?.id ?? ''}`;
    const kind = random.pick(['list', 'quotes', 'view', 'timeline', 'ownQuotes', 'preflight'] as const);
    const limit = random.between(1, 50);
    if (kind === 'list') return caller.read(kind, `/v1/auctions?limit=${limit}`, { limit });
    if (kind === 'quotes') return caller.read(kind, `/v1/quotes?limit=${limit}`, { limit });
    if (auction === undefined) return;
    const about = { auctionId: auction.id, isKept: isNosy };
    if (kind === 'view') return caller.read(kind, path, about);
    if (kind === 'timeline') return caller.read(kind, `${path}/events?limit=1000`, about);
    if (kind === 'ownQuotes') return caller.read(kind, `${path}/quotes`, about);
    if (!auction.makers.includes(caller.account)) return;
    const price = 500_000 - (500_000 % auction.tick);
    const body = { price_atoms: price, max_executable_quantity_atoms: auction.step };
    return caller.read(kind, `${path}/quotes/preflight`, { ...about, body });
  }

  private learnAuction(caller: LoadCaller, body: object): void {
    const view = body as Created;
    this.auctions.push({
      id: view.auction_id,
      originator: caller.account,
      makers: view.audience.market_maker_ids,
      tick: view.price_tick_atoms,
      step: view.quantity_step_atoms,
      quantity: view.quantity_atoms,
    });
    if (this.auctions.length > KNOWN) this.auctions.shift();
  }

  private learnQuote(caller: LoadCaller, answer: ApiAnswer | undefined): void {
    if (answer === undefined || answer.status >= 300) return;
    const body: object = answer.body;
    const { quote_id: id, auction_id: auctionId, revision, status } = body as Quoted;
    const own = (this.quotes.get(caller.account) ?? []).filter((quote) => quote.id !== id);
    if (status === 'ACTIVE') own.push({ id, auctionId, revision });
    this.quotes.set(caller.account, own.slice(-KNOWN));
  }

  private ownOf(caller: LoadCaller): HeardAuction | undefined {
    return this.auctions.findLast(({ originator }) => originator === caller.account);
  }

  private someAuction(caller: LoadCaller, random: Random): HeardAuction | undefined {
    const invited = this.auctions.filter(({ makers }) => makers.includes(caller.account));
    return invited.length === 0 ? undefined : random.pick(invited.slice(-8));
  }
}

function messageOf(message: string | undefined): { readonly message?: string } {
  return message === undefined ? {} : { message };
}
