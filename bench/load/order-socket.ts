import { once } from 'node:events';
import { WebSocket } from 'ws';

export interface OrderMessage {
  readonly type: string;
  readonly req_id?: string;
  readonly [member: string]: unknown;
}

/** A socket of `/ws` that stores nothing it receives, so that the generator costs as little as possible. */
export class OrderSocket {
  /** Called with every message that answers no request. */
  onMessage: (message: OrderMessage) => void = () => undefined;
  private requests = 0;
  private readonly pending = new Map<string, (reply: OrderMessage) => void>();

  private constructor(private readonly ws: WebSocket) {
    ws.on('error', () => undefined);
    ws.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as OrderMessage;
      const waiting = message.req_id === undefined ? undefined : this.pending.get(message.req_id);
      if (waiting === undefined || message.req_id === undefined) this.onMessage(message);
      else {
        this.pending.delete(message.req_id);
        waiting(message);
      }
    });
  }

  static async open(url: string, headers: Readonly<Record<string, string>>): Promise<OrderSocket> {
    const ws = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, {
      headers,
      perMessageDeflate: false,
      skipUTF8Validation: true,
    });
    await once(ws, 'open');
    const socket = new OrderSocket(ws);
    await socket.ask('hello');
    return socket;
  }

  /** Resolves once the snapshot is complete. */
  async subscribe(): Promise<void> {
    const snapshotComplete = new Promise<void>((resolve) => {
      const { onMessage } = this;
      this.onMessage = (message) => {
        if (message.type !== 'snapshot' || message.more !== false) return;
        this.onMessage = onMessage;
        resolve();
      };
    });
    const { type } = await this.ask('subscribe', { channel: 'orders' });
    if (type !== 'subscribed') throw new Error(`not subscribed but ${type}`);
    await snapshotComplete;
  }

  ask(op: string, fields: Readonly<Record<string, unknown>> = {}): Promise<OrderMessage> {
    this.requests += 1;
    const req_id = String(this.requests);
    const text = JSON.stringify({ op, req_id, ...fields });
    return new Promise((resolve) => {
      this.pending.set(req_id, resolve);
      this.ws.send(text);
    });
  }

  kill(): void {
    this.ws.terminate();
  }
}
