import type { AuctionJson, ContractView, QuoteJson, TimelinePage } from '#libs/client/wire.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { Player } from './player.js';
import type { DemoStage } from './stage.js';
import type { DemoTerminal } from './terminal.js';
import { timelineTable } from './timeline-table.js';

const CONTRACT_ATOMS = 1_000_000;
const DURATION_MS = 11_000;
/** Time to read a line or two before the next step. */
const READING_MS = 800;
const POLL_MS = 200;
/** The service gives up an award after a minute; settlement takes far less. */
const SETTLED_WITHIN_MS = 60_000;

interface Participants {
  readonly olivia: Player;
  readonly max: Player;
  readonly mia: Player;
  readonly milo: Player;
}

interface Opened {
  readonly id: string;
  readonly path: string;
  readonly closesAt: string;
}

/** A whole auction, from the invitation to the settlement, in about fifteen seconds. */
export class Play {
  constructor(
    private readonly stage: DemoStage,
    private readonly terminal: DemoTerminal,
    private readonly clock: Clock,
  ) {}

  async perform(): Promise<void> {
    this.introduce();
    const cast = await this.logInAll();
    const opened = await this.open(cast.olivia, [cast.max, cast.mia, cast.milo]);
    await this.invite(cast, opened);
    await this.quote(cast, opened);
    await this.showSealed(cast, opened);
    await this.close(opened);
    await this.award(cast, opened);
    await this.settle(cast, opened);
    await this.showTimelines(cast, opened);
    this.finish(opened);
  }

  private introduce(): void {
    const { terminal } = this;
    terminal.title('A sealed-bid auction, from beginning to end');
    terminal.say(
      'Trading a large size in the open moves the market against the trader. In a sealed-bid auction the trader asks a few ' +
        'market makers in private instead. Each of them gives one firm price, in an envelope so to speak: no maker sees ' +
        "the others' prices or how many there are, and not even the trader looks inside before the close. Then " +
        'all envelopes are opened at once and the best win, each at its own price (that is "first price").',
    );
    terminal.say(
      `Everything below happens live at ${this.stage.url}, with the requests that any client would send. Money and sizes ` +
        'are whole "atoms": 1,000,000 to the dollar and to the contract.',
    );
  }

  private async logInAll(): Promise<Participants> {
    this.terminal.scene('The participants log in');
    const enter = (name: string, account: string): Promise<Player> =>
      Player.enter(name, `${account}@demo.sotto`, { stage: this.stage, terminal: this.terminal });
    const [olivia, max, mia, milo] = await Promise.all([
      enter('Olivia', 'originator-1'),
      enter('Max', 'maker-1'),
      enter('Mia', 'maker-2'),
      enter('Milo', 'maker-3'),
    ]);
    this.terminal.say(
      'Olivia wants to buy (originator-1). Max, Mia and Milo make markets (maker-1 to 3). POST /auth/login gives each a ' +
        'session token. The token alone says who is calling, never a field in a request.',
    );
    return { olivia, max, mia, milo };
  }

  private async open(olivia: Player, makers: readonly Player[]): Promise<Opened> {
    const { contracts } = await olivia.get<{ contracts: readonly ContractView[] }>('/v1/contracts?limit=50');
    const contract = contracts.find(({ status }) => status === 'TRADING');
    if (contract === undefined) throw new StartFault('no contract of this cluster is trading');
    const { title, venue, contract_id, outcome } = contract;
    this.terminal.scene('Olivia opens an auction');
    this.terminal.say(
      `She buys 100 contracts of "${title}" (${outcome} pays one dollar each if it comes true), at no more than 60 cents, a ` +
        `limit that no maker will ever see. Several makers may share it (SPLIT). It closes in ${DURATION_MS / 1_000} ` +
        "seconds by the service's own clock. The Idempotency-Key header of every request makes it safe to send again.",
    );
    const body = {
      side: 'BUY',
      quantity_atoms: 100 * CONTRACT_ATOMS,
      routes: [{ venue, contract_id, outcome }],
      limit_price_atoms: 600_000,
      allocation: 'SPLIT',
      duration_ms: DURATION_MS,
      audience: { market_maker_ids: makers.map(({ accountId }) => accountId) },
      result_disclosure: 'WINNING_PRICE',
    };
    const opened = await olivia.post<AuctionJson>('/v1/auctions', body, (view) =>
      picked(
        view,
        'auction_id',
        'status',
        'opened_at',
        'closes_at',
        'price_tick_atoms',
        'quantity_step_atoms',
      ),
    );
    const { auction_id: id, closes_at: closesAt } = opened;
    this.terminal.say('The most that it may cost, 60 dollars, is reserved from now on.');
    return { id, path: `/v1/auctions/${id}`, closesAt };
  }

  private async invite({ max }: Participants, { path }: Opened): Promise<void> {
    await this.pauseToRead();
    this.terminal.scene('The makers find their invitation');
    await max.get(path, (view) =>
      picked(view, 'role', 'status', 'side', 'quantity_atoms', 'originator', 'closes_at'),
    );
    this.terminal.say(
      'Max sees what is asked for, but no limit, no name (the alias is new for every auction) and no other maker. Anyone who is not invited gets 404, exactly as for an auction that does not exist.',
    );
  }

  private async quote({ max, mia, milo }: Participants, { path }: Opened): Promise<void> {
    await this.pauseToRead();
    this.terminal.scene('Three makers quote, each unseen by the others');
    const terms = (price: number, contracts: number): object => ({
      price_atoms: price,
      quantity_atoms: contracts * CONTRACT_ATOMS,
    });
    const shown = (view: Record<string, unknown>): object =>
      picked(view, 'quote_id', 'revision', 'status', 'price_atoms', 'quantity_atoms');
    await max.post(`${path}/quotes`, terms(520_000, 100), shown);
    await this.pauseToRead();
    await mia.post(`${path}/quotes`, terms(500_000, 100), shown);
    await this.pauseToRead();
    const first = await milo.post<QuoteJson>(`${path}/quotes`, terms(550_000, 100), shown);
    this.terminal.say(
      'Quotes are firm: the most that each could cost is reserved at once, and there is no last look. Milo changes his mind and sends ' +
        'a better price for a smaller size.',
    );
    await this.pauseToRead();
    const better = { expected_revision: first.revision, ...terms(480_000, 60) };
    await milo.post(`${path}/quotes/${first.quote_id}/revise`, better, shown);
  }

  private async showSealed({ olivia, max }: Participants, { path }: Opened): Promise<void> {
    await this.pauseToRead();
    this.terminal.scene('The envelopes stay closed');
    await olivia.get(`${path}/quotes`, (answer) => answer);
    await max.get(`${path}/quotes`, (answer) => answer);
    this.terminal.say(
      'Olivia sees no quotes at all, not even how many there are. Max sees his own. Whatever he asks, every byte is the same ' +
        'with or without competitors.',
    );
  }

  private async close({ closesAt }: Opened): Promise<void> {
    this.terminal.scene('The clock runs out');
    const left = Math.max(0, Date.parse(closesAt) - Number(this.clock.epochNanos() / 1_000_000n));
    this.terminal.say(`${(left / 1_000).toFixed(1)} seconds to go, to the nanosecond ${closesAt} ...`);
    await pause(this.clock, left);
  }

  private async award({ olivia, max, milo }: Participants, { path }: Opened): Promise<void> {
    await this.until(olivia, path, (view) => view.award !== undefined || view.phase === 'COMPLETED');
    this.terminal.scene('All envelopes are opened at once');
    await olivia.get(path, (view) => picked(view, 'status', 'closed_at', 'award'));
    this.terminal.say(
      'Milo is cheapest and sells his 60 at 48 cents, Mia the other 40 at 50 cents: each at their own price. Max, at 52, is ' +
        'outbid, and his reservation is released.',
    );
    await milo.get(path, (view) => picked(view, 'status', 'award'));
    await max.get(path, (view) => picked(view, 'status', 'phase', 'completed_at', 'my_quote'));
    this.terminal.say(
      'For Max the auction ended at its close. He learns the worst winning price, because Olivia chose to disclose it ' +
        '(WINNING_PRICE), and nothing about who won, or how much.',
    );
  }

  private async settle({ olivia }: Participants, { path }: Opened): Promise<void> {
    await this.pauseToRead();
    await this.until(olivia, path, (view) => view.phase === 'COMPLETED');
    this.terminal.scene('The awards are settled');
    await olivia.get(path, (view) => picked(view, 'status', 'completed_at', 'award'));
    this.terminal.say(
      'Each award is one double-entry transaction: collateral from Olivia to the maker, outcome tokens from the maker to her.',
    );
  }

  private async showTimelines({ olivia, max, milo }: Participants, { path }: Opened): Promise<void> {
    await this.pauseToRead();
    this.terminal.scene('What each participant can read later');
    this.terminal.say(
      `GET ${path}/events is the audit timeline of the caller: complete, numbered without gaps, and without anything ` +
        'that the caller may not see.',
    );
    for (const [player, part] of [
      [olivia, 'the originator'],
      [milo, 'a winner'],
      [max, 'who was outbid'],
    ] as const) {
      this.terminal.title(`   ${player.name}, ${part}`);
      this.terminal.table(timelineTable(await player.get<TimelinePage>(`${path}/events`)));
    }
  }

  private finish({ id }: Opened): void {
    this.terminal.title('That was auction');
    this.terminal.say(`${id}. Log in as any demo user to look at it: \`npm start\` shows how.`);
  }

  private pauseToRead(): Promise<void> {
    return pause(this.clock, READING_MS);
  }

  private async until(
    player: Player,
    path: string,
    isReached: (view: AuctionJson) => boolean,
  ): Promise<void> {
    const deadline = this.clock.monotonicNanos() + BigInt(SETTLED_WITHIN_MS) * 1_000_000n;
    for (;;) {
      const view = await player.get<AuctionJson>(path);
      if (isReached(view)) return;
      if (this.clock.monotonicNanos() > deadline) {
        throw new StartFault(`the auction is still ${view.status}: see the logs of the cluster`);
      }
      await pause(this.clock, POLL_MS);
    }
  }
}

function picked(view: Record<string, unknown>, ...names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => name in view).map((name) => [name, view[name]]));
}
