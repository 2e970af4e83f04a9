import { ApiClient } from '#libs/client/api-client.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { pause, type Clock } from '#libs/platform/time/clock.js';
import type { DemoTerminal } from '../terminal.js';
import type { ApiKey } from './trading-stage.js';

export type Json = Readonly<Record<string, unknown>>;

const POLL_MS = 100;
const TIMEOUT_MS = 30_000;

/** A trader of the demo. Sends orders with an API key, and prints requests and answers. */
export class StageTrader {
  private readonly api: ApiClient;

  constructor(
    readonly name: string,
    url: string,
    private readonly key: ApiKey,
    private readonly parts: { readonly terminal: DemoTerminal; readonly clock: Clock },
  ) {
    this.api = new ApiClient(url);
  }

  async get(path: string): Promise<Json> {
    return (await this.send('GET', path)).body;
  }

  /** Prints the request and its answer. */
  async post(path: string, body: Json): Promise<Json> {
    const { terminal } = this.parts;
    terminal.request(this.name, 'POST', path, body);
    const answer = await this.send('POST', path, body);
    terminal.reply(answer.status, answer.body);
    return answer.body;
  }

  /** Resolves with the order once it has one of these statuses. */
  async until(id: string, ...statuses: readonly string[]): Promise<Json> {
    const { clock } = this.parts;
    const deadline = clock.monotonicNanos() + BigInt(TIMEOUT_MS) * 1_000_000n;
    for (;;) {
      const order = await this.get(`/orders/${id}`);
      if (statuses.includes(String(order.status))) return order;
      if (clock.monotonicNanos() > deadline) {
        throw new StartFault(`order ${id} is still ${String(order.status)}: see the logs of the cluster`);
      }
      await pause(clock, POLL_MS);
    }
  }

  private async send(
    method: string,
    path: string,
    body?: Json,
  ): Promise<{ readonly status: number; readonly body: Json }> {
    const { client_id: clientId, api_key: apiKey, api_secret: secret } = this.key;
    const headers = { 'x-client-id': clientId, 'x-api-key': apiKey, 'x-api-secret': secret };
    const answer = await this.api.send<Json | undefined>(method, path, { headers, body }).catch(() => {
      throw new StartFault(`nothing answers at ${this.api.baseUrl}: is order execution running?`);
    });
    if (answer.status >= 300 || answer.body === undefined) {
      throw new StartFault(
        `${method} ${path} was answered with ${answer.status}: ${answer.text.slice(0, 300)}`,
      );
    }
    return { status: answer.status, body: answer.body };
  }
}
