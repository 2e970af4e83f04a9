import { Host } from '../kernel/host.js';
import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Random } from '../kernel/random.js';
import type { Oracle } from '../oracle/oracle.js';
import { Promises } from '../oracle/promises.js';
import { Readings } from '../oracle/readings.js';
import { must } from '../oracle/violation.js';
import type { Plan } from '../plan/draw.js';
import type { Deed } from '../plan/plan.js';
import type { HttpRequest } from '../processes/http-desk.js';
import type { World } from '../processes/world.js';
import type { Transcript } from '../twins/transcript.js';
import { isSuspended } from './authority.js';
import { Caller } from './caller.js';
import { MAKERS, ORIGINATORS, STRANGER } from './cast.js';
import { commandFor } from './deeds.js';
import { Errands, type Errand } from './errands.js';
import { FamiliarKeys } from './familiar-keys.js';
import { Knowledge, type KnownAuction } from './knowledge.js';
import { Viewer } from './viewer.js';

const AGAIN_MILLIS = 300;
/** Commands that are said once more. */
const LATEST = 20;
const WHOLE = { after_seq: 0, limit: 1_000 };

interface CreatedView {
  readonly auction_id: string;
  readonly side: 'BUY' | 'SELL';
  readonly quantity_atoms: number;
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
  readonly audience: { readonly market_maker_ids: readonly string[] };
}

interface CrowdParts {
  readonly world: World;
  readonly oracle: Oracle;
  readonly plan: Plan;
  readonly random: Random;
  readonly gateways: readonly string[];
  readonly transcript: Transcript | undefined;
}

/** Everybody outside the system: what they do, what they know, and what they were told. */
export class Crowd {
  readonly promises: Promises;
  readonly viewers: readonly Viewer[];
  readonly errands: Errands;
  reads = 0;
  private readonly readings: Readings;
  private readonly known = new Knowledge();
  private readonly keys = new FamiliarKeys();
  private readonly callers = new Map<string, Caller>();
  /** In their order. */
  private readonly given: Errand[] = [];

  constructor(private readonly parts: CrowdParts) {
    const { world, oracle, plan, random, gateways, transcript } = parts;
    this.promises = new Promises(oracle.archive, (account) => isSuspended(world.database.tables, account));
    this.readings = new Readings(oracle.archive);
    this.errands = new Errands(world, random.fork('errands'), this.promises, gateways, transcript);
    const hosts = new Map(
      [...ORIGINATORS, ...MAKERS, STRANGER].map((account) => [account, new Host('client', world.scheduler)]),
    );
    for (const [account, host] of hosts) this.callers.set(account, new Caller(world, host, account));
    this.viewers = [...hosts].map(
      ([account, host]) =>
        new Viewer(world, host, account, {
          random: random.fork(`viewer ${account}`),
          oracle,
          gateways,
          transcript,
          graceMillis: plan.graces[account],
        }),
    );
  }

  do(deed: Deed): void {
    const { world, random, plan } = this.parts;
    const own = random.fork(`deed ${deed.key}`);
    if (deed.act === 'READ') {
      this.read(deed, own);
      return;
    }
    if (deed.act === 'FOLLOW') {
      this.follow(deed, own);
      return;
    }
    const drafted = commandFor(deed, this.known, own, world.database.epochNanos());
    if (drafted === undefined) return;
    const key = this.keys.keyFor(drafted.command, own.fork('key'));
    const found = { command: { ...drafted.command, key }, request: { ...drafted.request, key } };
    const errand: Errand = {
      ...found,
      caller: this.caller(deed.account),
      done: (status, body) => this.learn(errand, status, body),
    };
    const viewer = this.viewers.find(({ account }) => account === deed.account);
    const isOverStream = deed.act === 'SUBMIT' && plan.graces[deed.account] !== undefined && own.chance(0.7);
    this.given.push({ ...found, caller: errand.caller });
    if (deed.isAmbiguous === true) this.repeatOtherwise(errand);
    if (deed.repeatMillis !== undefined) {
      world.scheduler.after(deed.repeatMillis * NANOS_PER_MILLI, undefined, () =>
        this.errands.run({ ...found, caller: errand.caller }, false),
      );
    }
    if (!isOverStream || viewer === undefined || !this.overStream(errand, viewer))
      this.errands.run(errand, deed.isTwice);
  }

  /** People have lost what they were told, and say once more what they said last. */
  repeatLatest(): void {
    for (const errand of this.given.slice(-LATEST)) this.errands.run(errand, false);
  }

  /** Whether nobody waits for anything any more. */
  get isAtRest(): boolean {
    return this.errands.waiting === 0 && this.viewers.every((viewer) => viewer.isReady);
  }

  checkAtRest(): void {
    this.promises.checkAll();
    for (const viewer of this.viewers) viewer.checkAtRest();
  }

  /** Everybody reads everything once more; calls back when all of it was found to be true. */
  readAll(done: () => void): void {
    const asked = [...this.parts.oracle.files.values()].flatMap(({ id, stories }) =>
      [...stories.keys()].map((account) => ({ id, account })),
    );
    let left = asked.length;
    if (left === 0) done();
    for (const { id, account } of asked) {
      const ids = { auctionID: id };
      this.insist(account, { operation: 'getAuction', ids }, (view) => {
        this.insist(account, { operation: 'listAuctionEvents', ids, query: WHOLE }, (timeline) => {
          this.readings.atRest(account, id, view, timeline);
          left -= 1;
          if (left === 0) done();
        });
      });
    }
  }

  /** Nothing is broken any more, but somebody may still be starting. */
  private insist(account: string, request: Omit<HttpRequest, 'id'>, heed: (body: string) => void): void {
    const { world, random, gateways } = this.parts;
    this.caller(account).ask(random.pick(gateways), request, (answer) => {
      if (answer?.status === 200) heed(answer.body);
      else if (answer === undefined || answer.status === 503) {
        world.scheduler.after(AGAIN_MILLIS * NANOS_PER_MILLI, undefined, () =>
          this.insist(account, request, heed),
        );
      } else
        must(false, 'at rest everything is read', () => `${account} is told ${answer.status} ${answer.body}`);
    });
  }

  /** The same key, and something else said under it. */
  private repeatOtherwise({ command, request, caller }: Errand): void {
    const { world, random, gateways } = this.parts;
    const own = random.fork(`other ${command.key}`);
    const body = otherwise(command.operation, request.body);
    if (body === undefined) return;
    world.scheduler.after(own.between(0, 3_000) * NANOS_PER_MILLI, undefined, () => {
      const other = { ...command, content: JSON.stringify(body) };
      this.promises.said(other);
      caller.ask(own.pick(gateways), { ...request, body }, (answer) => {
        if (answer !== undefined) this.promises.answered(other, answer.status, answer.body);
      });
    });
  }

  private overStream(errand: Errand, viewer: Viewer): boolean {
    const { command, request } = errand;
    const fields = { auction_id: command.auctionId, idempotency_key: command.key, ...request.body };
    this.promises.said(command);
    return viewer.command('quote.submit', fields, (answer) => {
      if (answer !== undefined) this.promises.answered(command, answer.status, answer.body);
      if (answer !== undefined && answer.status < 500 && answer.status !== 429)
        this.learn(errand, answer.status, answer.body);
      else this.errands.run(errand, false);
    });
  }

  /** Somebody wants to hear of one auction, from where it knows its story. */
  private follow({ account }: Deed, random: Random): void {
    const { auctions } = this.known;
    const auction = auctions.at(-1 - random.below(Math.min(6, Math.max(1, auctions.length))));
    const viewer = this.viewers.find((one) => one.account === account);
    if (auction === undefined || viewer === undefined) return;
    const length = this.parts.oracle.storyOf(auction.id, account).length;
    viewer.follow(auction.id, random.chance(0.2) ? undefined : random.below(length + 1));
  }

  private read({ account, key }: Deed, random: Random): void {
    const gateway = random.pick(this.parts.gateways);
    const { auctions } = this.known;
    const auction = auctions.at(-1 - random.below(Math.min(6, Math.max(1, auctions.length))));
    const ask = (request: Omit<HttpRequest, 'id'>, heed: (status: number, body: string) => void): void => {
      this.reads += 1;
      this.caller(account).ask(gateway, request, (answer) => {
        if (answer === undefined) return;
        this.parts.transcript?.note(
          account,
          key,
          `${answer.status} ${answer.body}`,
          this.parts.world.scheduler.now,
        );
        heed(answer.status, answer.body);
      });
    };
    const { readings } = this;
    const query = { limit: random.between(1, 50) };
    const ids = { auctionID: auction?.id ?? '' };
    const kind = random.pick(['LIST', 'QUOTES', 'VIEW', 'TIMELINE', 'OWN_QUOTES', 'PREFLIGHT'] as const);
    if (kind === 'LIST')
      ask({ operation: 'listAuctions', query }, (...said) => readings.list(account, ...said));
    else if (kind === 'QUOTES') {
      ask({ operation: 'listQuotes', query }, (...said) => readings.quotes(account, ...said));
    } else if (auction === undefined) return;
    else if (kind === 'VIEW') {
      ask({ operation: 'getAuction', ids }, (...said) => readings.view(account, ...said));
    } else if (kind === 'TIMELINE') {
      ask({ operation: 'listAuctionEvents', ids, query: WHOLE }, (...said) =>
        readings.timeline(account, auction.id, ...said),
      );
    } else if (kind === 'OWN_QUOTES') {
      ask({ operation: 'listAuctionQuotes', ids }, (...said) => readings.ownQuotes(account, ...said));
    } else {
      const body = {
        price_atoms: 500_000 - (500_000 % auction.tick),
        max_executable_quantity_atoms: auction.step,
      };
      ask({ operation: 'preflightQuote', ids, body }, (...said) => readings.preflight(account, ...said));
    }
  }

  private learn({ command, request }: Errand, status: number, body: string): void {
    if (status >= 300) return;
    if (command.operation === 'CREATE') {
      const view = JSON.parse(body) as CreatedView;
      const routes = (request.body as { readonly routes: KnownAuction['routes'] }).routes;
      this.known.auctions.push({
        id: view.auction_id,
        originator: command.account,
        makers: view.audience.market_maker_ids,
        side: view.side,
        quantity: view.quantity_atoms,
        tick: view.price_tick_atoms,
        step: view.quantity_step_atoms,
        routes,
      });
    } else if (command.operation === 'SUBMIT' || command.operation === 'REVISE') {
      const { quote_id: id, revision } = JSON.parse(body) as {
        readonly quote_id: string;
        readonly revision: number;
      };
      const known = this.known.quotes.find((quote) => quote.id === id);
      if (known === undefined)
        this.known.quotes.push({ id, auctionId: command.auctionId, maker: command.account, revision });
      else known.revision = Math.max(known.revision, revision);
    }
  }

  private caller(account: string): Caller {
    const caller = this.callers.get(account);
    if (caller === undefined) throw new Error(`nobody is called ${account}`);
    return caller;
  }
}

function otherwise(operation: string, body: object | undefined): object | undefined {
  if (operation === 'CREATE' || operation === 'SUBMIT') return { ...body, client_reference: 'another' };
  return undefined;
}
