import { once } from 'node:events';
import { WebSocket } from 'ws';

interface Reply {
  readonly id?: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/** The debugger that every Node process opens on SIGUSR1. It reaches into a process that has no hooks for tests. */
export class NodeInspector {
  private lastId = 0;

  private constructor(private readonly socket: WebSocket) {}

  static async open(url: string): Promise<NodeInspector> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.on('error', () => undefined);
    await once(socket, 'open');
    return new NodeInspector(socket);
  }

  /** Keeps the event loop busy. */
  async block(millis: number): Promise<void> {
    await this.evaluate(`{ const end = performance.now() + ${millis}; while (performance.now() < end); }`);
  }

  /** The heap in use in bytes, after garbage collection. */
  async heapInUse(): Promise<number> {
    for (let times = 2; times > 0; times -= 1) await this.command('HeapProfiler.collectGarbage', {});
    const used = await this.evaluate(
      '{ const { heapUsed, external } = process.memoryUsage(); heapUsed + external; }',
    );
    return Number(used);
  }

  close(): void {
    this.socket.terminate();
  }

  private async evaluate(expression: string): Promise<unknown> {
    const reply = await this.command('Runtime.evaluate', { expression, returnByValue: true });
    return reply?.result?.result?.value;
  }

  /** Undefined when the process ends instead of answering. */
  private command(method: string, params: object): Promise<Reply | undefined> {
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve) => {
      this.socket.once('close', () => resolve(undefined));
      this.socket.on('message', (text: Buffer) => {
        const reply = JSON.parse(text.toString()) as Reply;
        if (reply.id === id) resolve(reply);
      });
      this.socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
