import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const HEAD_END = '\r\n\r\n';
const STATUS = /^HTTP\/1\.1 (\d{3})/;
const LENGTH = /^content-length: *(\d+)/im;

/**
 * One kept-alive connection with one request at a time. Cheaper than `ApiClient`: the generator shares the
 * machine with the cluster, and the cost of `node:http` would count as the cluster's. A connection that the
 * server closed is opened again.
 */
export class HttpConnection {
  private received: Buffer = Buffer.alloc(0);
  private waiting: { resolve: (answer: HttpAnswer) => void; reject: (error: Error) => void } | undefined;
  private socket: Socket | undefined;
  private readonly address: URL;

  constructor(baseUrl: string) {
    this.address = new URL(baseUrl);
  }

  async send(call: HttpCall): Promise<HttpAnswer> {
    const socket = this.socket?.writable === true ? this.socket : await this.open();
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      socket.write(this.textOf(call));
    });
  }

  close(): void {
    this.socket?.destroy();
  }

  private async open(): Promise<Socket> {
    const { hostname, port } = this.address;
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('the connection was closed')));
    this.received = Buffer.alloc(0);
    this.socket = socket;
    return socket;
  }

  private textOf({ method, path, headers = {}, body }: HttpCall): string {
    let head = `${method} ${path} HTTP/1.1\r\nhost: ${this.address.host}\r\n`;
    for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
    if (body !== undefined) {
      head += `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    }
    return `${head}\r\n${body ?? ''}`;
  }

  private fail(error: Error): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.reject(error);
  }

  private receive(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const end = this.received.indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.received.toString('latin1', 0, end);
    const [, length] = LENGTH.exec(head) ?? [];
    const [, status] = STATUS.exec(head) ?? [];
    if (length === undefined || status === undefined) {
      this.socket?.destroy(new Error(`an answer without status or length: ${head}`));
      return;
    }
    const start = end + HEAD_END.length;
    const total = start + Number(length);
    if (this.received.length < total) return;
    const body = this.received.toString('utf8', start, total);
    this.received = this.received.subarray(total);
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.resolve({ status: Number(status), body });
  }
}
