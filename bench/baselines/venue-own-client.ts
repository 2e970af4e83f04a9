import { once } from 'node:events';
import { WebSocket } from 'ws';
import { clientOfB, signedHeaders, type BClient, type BKeys } from '#libs/testing/practice-b.js';

const SOCKET_PATH = '/trade-api/ws/v2';

interface SocketMessage {
  readonly type: string;
  readonly msg?: { readonly order_id?: string };
}

/** The venue's own published client, with its socket for fills. */
export class VenueOwnClient {
  private readonly client: BClient;
  private readonly seen = new Set<string>();
  private waiting: { readonly id: string; readonly resolve: () => void } | undefined;

  private constructor(
    port: number,
    keys: BKeys,
    private readonly socket: WebSocket,
  ) {
    this.client = clientOfB(port, keys);
    socket.on('message', (data: Buffer) => {
      const { type, msg } = JSON.parse(data.toString()) as SocketMessage;
      if (type !== 'fill' || msg?.order_id === undefined) return;
      if (this.waiting?.id === msg.order_id) this.waiting.resolve();
      else this.seen.add(msg.order_id);
    });
  }

  static async open(port: number, keys: BKeys): Promise<VenueOwnClient> {
    const headers = signedHeaders(keys, 'GET', SOCKET_PATH);
    const socket = new WebSocket(`ws://127.0.0.1:${port}${SOCKET_PATH}`, { headers });
    await once(socket, 'open');
    const client = new VenueOwnClient(port, keys, socket);
    const subscribed = once(socket, 'message');
    socket.send(JSON.stringify({ id: 1, cmd: 'subscribe', params: { channels: ['fill'] } }));
    await subscribed;
    return client;
  }

  /** Places an order that rests, for others to take. */
  async offer(ticker: string, count: string, price: string): Promise<void> {
    await this.place(ticker, 'ask', { count, price, time_in_force: 'good_till_canceled' });
  }

  /** Takes a resting order. Resolves once the socket reports the fill. */
  async take(ticker: string, count: string, price: string): Promise<void> {
    const id = await this.place(ticker, 'bid', { count, price, time_in_force: 'immediate_or_cancel' });
    if (this.seen.delete(id)) return;
    await new Promise<void>((resolve) => (this.waiting = { id, resolve }));
    this.waiting = undefined;
  }

  close(): void {
    this.socket.terminate();
  }

  private async place(
    ticker: string,
    side: 'bid' | 'ask',
    order: {
      readonly count: string;
      readonly price: string;
      readonly time_in_force: 'good_till_canceled' | 'immediate_or_cancel';
    },
  ): Promise<string> {
    const { status, data } = await this.client.orders.createOrderV2({
      ...{ ticker, side, ...order },
      self_trade_prevention_type: 'taker_at_cross',
    });
    if (status !== 201) throw new Error(`the venue answers ${status} ${JSON.stringify(data)}`);
    return data.order_id;
  }
}
