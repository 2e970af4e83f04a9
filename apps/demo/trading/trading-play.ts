import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { DemoTerminal } from '../terminal.js';
import { StageTrader, type Json } from './trader.js';
import type { TradingStage } from './trading-stage.js';

const READING_MS = 800;

interface Traders {
  readonly tara: StageTrader;
  readonly theo: StageTrader;
  readonly market: string;
}

/** The life of an order: submit, partial fill, amend, a crash, cancel. About fifteen seconds. */
export class TradingPlay {
  constructor(
    private readonly stage: TradingStage,
    private readonly terminal: DemoTerminal,
    private readonly clock: Clock,
  ) {}

  async perform(): Promise<void> {
    const cast = await this.introduce();
    const order = await this.submit(cast);
    await this.fillPart(cast, order);
    await this.amend(cast, order);
    const second = await this.crash(cast);
    await this.fillRest(cast, order);
    await this.cancel(cast, second);
    await this.showEvents(cast, order);
  }

  private async introduce(): Promise<Traders> {
    const { stage, terminal, clock } = this;
    terminal.title('Orders at a venue, from an API key to a settled fill');
    terminal.say(
      'Tara and Theo trade with API keys. Their orders take one path: every step is recorded before it is taken, so that a ' +
        'crash loses nothing and sends nothing twice. The venue is the practice venue of this cluster, with a market of its own.',
    );
    const market = await stage.openMarket('Will the demo end well?');
    const enter = async (name: string, user: string): Promise<StageTrader> =>
      new StageTrader(name, stage.url, await stage.keyOf(user), { terminal, clock });
    return { tara: await enter('Tara', 'trader-1'), theo: await enter('Theo', 'trader-2'), market };
  }

  private async submit({ tara, market }: Traders): Promise<string> {
    this.terminal.scene('Tara bids 40 cents for 100 Yes');
    const { order_id: id } = await tara.post('/orders', orderOf(market, 'Yes', 0.4, 100));
    this.terminal.say(
      'The reply is an acknowledgement: the order is durable. Its state is then read from the record.',
    );
    this.show(await tara.until(String(id), 'open'));
    return String(id);
  }

  private async fillPart({ tara, theo, market }: Traders, order: string): Promise<void> {
    await this.pauseToRead();
    this.terminal.scene('Theo bids 60 cents for 30 No');
    await theo.post('/orders', orderOf(market, 'No', 0.6, 30));
    this.terminal.say(
      'Yes and No pay one dollar together, so 40 and 60 cents meet: the venue makes 30 pairs and gives each trader one side.',
    );
    this.show(await tara.until(order, 'partially_filled'));
  }

  private async amend({ tara }: Traders, order: string): Promise<void> {
    await this.pauseToRead();
    this.terminal.scene('Tara raises her price to 42 cents');
    await tara.post(`/orders/${order}/amend`, { price: 0.42 });
  }

  private async crash({ tara, market }: Traders): Promise<string> {
    await this.pauseToRead();
    this.terminal.scene('The executor is killed, and Tara sends another order');
    await this.stage.kill('executor');
    const { order_id: id } = await tara.post('/orders', orderOf(market, 'Yes', 0.3, 50));
    this.terminal.say(
      'It is accepted anyway, and waits. The executor restarts and sends it to the venue, once.',
    );
    this.show(await tara.until(String(id), 'open'));
    return String(id);
  }

  private async fillRest({ tara, theo, market }: Traders, order: string): Promise<void> {
    await this.pauseToRead();
    this.terminal.scene('Theo bids 58 cents for 70 No');
    await theo.post('/orders', orderOf(market, 'No', 0.58, 70));
    this.show(await tara.until(order, 'filled'));
  }

  private async cancel({ tara }: Traders, order: string): Promise<void> {
    await this.pauseToRead();
    this.terminal.scene('Tara cancels the second order');
    await tara.post(`/orders/${order}/cancel`, {});
    this.show(await tara.until(order, 'cancelled'));
  }

  private async showEvents({ tara }: Traders, order: string): Promise<void> {
    this.terminal.scene('The history of the order');
    const { events } = await tara.get(`/orders/${order}/events`);
    const rows = (Array.isArray(events) ? (events as readonly Json[]) : []).map((event) =>
      ['seq', 'at', 'cause', 'actor', 'status'].map((name) => {
        const value = event[name];
        return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
      }),
    );
    this.terminal.table([['seq', 'at', 'cause', 'actor', 'status'], ...rows]);
  }

  private show(order: Json): void {
    const names = ['status', 'price', 'quantity', 'filled_quantity', 'average_fill_price', 'fees', 'version'];
    this.terminal.reply(
      200,
      Object.fromEntries(names.flatMap((name) => (name in order ? [[name, order[name]]] : []))),
    );
  }

  private pauseToRead(): Promise<void> {
    return pause(this.clock, READING_MS);
  }
}

function orderOf(market: string, outcome: string, price: number, quantity: number): Json {
  const kind = { exchange_id: 'venue_b', market_id: market, side: 'buy', kind: 'limit' };
  return { ...kind, outcome, price, quantity };
}
