import { instantFromNanos } from '#libs/base/instant.js';
import { Host } from '../kernel/host.js';
import { NANOS_PER_MILLI } from '../kernel/sim-clock.js';
import type { Random } from '../kernel/random.js';
import { DisclosedNames } from '../oracle/names.js';
import type { Oracle } from '../oracle/oracle.js';
import { Promises } from '../oracle/promises.js';
import type { Plan } from '../plan/draw.js';
import type { PlannedAction } from '../plan/plan.js';
import type { World } from '../processes/world.js';
import type { TwinTranscript } from '../twins/transcript.js';
import { SimulatedCaller } from './caller.js';
import { MAKERS, ORIGINATORS, STRANGER } from './cast.js';
import { commandFor } from './deeds.js';
import { Errands, isFinal, type Errand } from './errands.js';
import { FamiliarKeys } from './familiar-keys.js';
import { Knowledge, type KnownAuction } from './knowledge.js';
import { Reader } from './reader.js';
import { StreamViewer } from './viewer.js';

/** The number of latest commands that are sent again. */
const LATEST = 20;

interface CreatedView {
  readonly auction_id: string;
  readonly side: 'BUY' | 'SELL';
  readonly quantity_atoms: number;
  readonly price_tick_atoms: number;
  readonly quantity_step_atoms: number;
  readonly audience: { readonly market_maker_ids: readonly string[] };
}

interface CreatedBody {
  readonly routes: KnownAuction['routes'];
  readonly quote_revision_policy?: string;
}

interface CrowdParts {
  readonly world: World;
  readonly oracle: Oracle;
  readonly plan: Plan;
  readonly random: Random;
  readonly gateways: readonly string[];
  readonly transcript: TwinTranscript | undefined;
}

/** All users: what they do, what they know, and what they were answered. */
export class SimulatedWorkload {
  readonly promises: Promises;
  readonly viewers: readonly StreamViewer[];
  readonly errands: Errands;
  readonly reader: Reader;
  private readonly names: DisclosedNames;
  private readonly known = new Knowledge();
  private readonly keys = new FamiliarKeys();
  private readonly callers = new Map<string, SimulatedCaller>();
  /** In order of sending. */
  private readonly given: Errand[] = [];

  constructor(private readonly parts: CrowdParts) {
    const { world, oracle, plan, random, gateways, transcript } = parts;
    this.promises = new Promises(oracle.archive, (placed) => oracle.owners.acknowledge(placed));
    this.names = new DisclosedNames(oracle.archive);
    const callerOf = (account: string): SimulatedCaller => this.caller(account);
    this.reader = new Reader({
      world,
      oracle,
      random: random.fork('reader'),
      gateways,
      transcript,
      callerOf,
    });
    this.errands = new Errands(world, random.fork('errands'), this.promises, gateways, transcript);
    const hosts = new Map(
      [...ORIGINATORS, ...MAKERS, STRANGER].map((account) => [account, new Host('client', world.scheduler)]),
    );
    for (const [account, host] of hosts)
      this.callers.set(
        account,
        new SimulatedCaller(world, host, account, (said, told) => this.names.check(account, told, said)),
      );
    this.viewers = [...hosts].map(
      ([account, host]) =>
        new StreamViewer(world, host, account, {
          random: random.fork(`viewer ${account}`),
          oracle,
          gateways,
          transcript,
          graceMillis: plan.graces[account],
          isCalm: plan.isCalm,
          names: this.names,
          onTold: (auctionId, place) => this.reader.look(account, auctionId, place),
        }),
    );
  }

  do(deed: PlannedAction): void {
    const { world, random, plan } = this.parts;
    const own = random.fork(`deed ${deed.key}`);
    if (deed.act === 'READ' || deed.act === 'LIST') {
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
    const isOverStream =
      (deed.act === 'SUBMIT' && plan.graces[deed.account] !== undefined && own.chance(0.7)) ||
      (deed.act === 'WITHDRAW_ALL' && own.chance(0.4));
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

  /** Users have lost their answers, and send their latest commands again. */
  repeatLatest(): void {
    for (const errand of this.given.slice(-LATEST)) this.errands.run(errand, false);
  }

  lookEverywhere(): void {
    for (const { account } of this.viewers) this.reader.lookEverywhere(account);
  }

  /** How long the account's stream has been away, or was until a moment ago. */
  absence(account: string, connectionId: string): number | undefined {
    return this.viewers.find((viewer) => viewer.account === account)?.absence(connectionId);
  }

  /** Whether no user waits for anything. */
  get isAtRest(): boolean {
    return this.errands.waiting === 0 && this.viewers.every((viewer) => viewer.isReady);
  }

  checkAtRest(): void {
    this.promises.checkAll();
    for (const viewer of this.viewers) viewer.checkAtRest();
  }

  /** Every user reads everything again; calls back once all answers were right. */
  readAll(done: () => void): void {
    this.reader.readAll([...this.callers.keys()], done);
  }

  /** Sends other content under the same key. */
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

  private overStream(errand: Errand, viewer: StreamViewer): boolean {
    const { command, request } = errand;
    const isSubmit = command.operation === 'SUBMIT';
    const named = isSubmit ? { auction_id: command.auctionId } : {};
    const notAfter = isSubmit ? this.notAfterFor(command.key) : undefined;
    const fields = {
      ...named,
      idempotency_key: command.key,
      ...request.body,
      ...(notAfter === undefined ? {} : { not_after: notAfter }),
    };
    this.promises.said(command);
    return viewer.command(isSubmit ? 'quote.submit' : 'quote.withdraw_all', fields, (answer) => {
      if (answer !== undefined) this.promises.answered(command, answer.status, answer.body, notAfter);
      if (answer !== undefined && isFinal(answer.status, answer.body))
        this.learn(errand, answer.status, answer.body);
      else this.errands.run(errand, false);
    });
  }

  /** Some commands have a time after which they are no longer wanted. */
  private notAfterFor(key: string): string | undefined {
    const { world, random, transcript } = this.parts;
    const own = random.fork(`not after ${key}`);
    if (transcript !== undefined || !own.chance(0.25)) return undefined;
    return instantFromNanos(world.database.epochNanos() + BigInt(own.between(-20, 300) * NANOS_PER_MILLI));
  }

  /** Subscribes to one auction, from the point up to which the user knows its timeline. */
  private follow({ account }: PlannedAction, random: Random): void {
    const { auctions } = this.known;
    const auction = auctions.at(-1 - random.below(Math.min(6, Math.max(1, auctions.length))));
    const viewer = this.viewers.find((one) => one.account === account);
    if (auction === undefined || viewer === undefined) return;
    const length = this.parts.oracle.storyOf(auction.id, account).length;
    viewer.follow(auction.id, random.chance(0.2) ? undefined : random.below(length + 1));
  }

  private read(deed: PlannedAction, random: Random): void {
    const { auctions } = this.known;
    const auction = auctions.at(-1 - random.below(Math.min(6, Math.max(1, auctions.length))));
    this.reader.read(deed, random, auction);
  }

  private learn({ command, request }: Errand, status: number, body: string): void {
    if (status >= 300) return;
    if (command.operation === 'CREATE') {
      const view = JSON.parse(body) as CreatedView;
      const { routes, quote_revision_policy: policy } = request.body as CreatedBody;
      this.known.auctions.push({
        id: view.auction_id,
        originator: command.account,
        makers: view.audience.market_maker_ids,
        side: view.side,
        quantity: view.quantity_atoms,
        tick: view.price_tick_atoms,
        step: view.quantity_step_atoms,
        routes,
        key: command.key,
        isImproveOnly: policy === 'IMPROVE_ONLY',
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

  private caller(account: string): SimulatedCaller {
    const caller = this.callers.get(account);
    if (caller === undefined) throw new Error(`there is no account ${account}`);
    return caller;
  }
}

function otherwise(operation: string, body: object | undefined): object | undefined {
  if (operation === 'CREATE' || operation === 'SUBMIT') return { ...body, client_reference: 'another' };
  return undefined;
}
