import { WebSocket } from 'ws';

export interface Answer {
  readonly type: 'ack' | 'reject';
  readonly status: number;
  readonly error?: string;
  readonly result?: unknown;
}

interface Frame {
  readonly type: string;
  readonly cmd_id?: string;
}

/** A maker's own connection to the stream: says commands and matches the answers; events go to whoever listens. */
export class MakerStream {
  onEvent: (frame: Frame) => void = () => undefined;
  private readonly waiting = new Map<string, (frame: Frame) => void>();
  private said = 0;

  private constructor(private readonly ws: WebSocket) {
    ws.on('message', (data: Buffer) => this.heard(data));
    ws.on('error', () => undefined);
  }

  static async open(gatewayUrl: string, token: string): Promise<MakerStream> {
    const ws = new WebSocket(`${gatewayUrl.replace(/^http/, 'ws')}/v1/stream`, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
      skipUTF8Validation: true,
    });
    await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
    const stream = new MakerStream(ws);
    await stream.say('hello', {});
    return stream;
  }

  /** Resolves with the first word about it. */
  say(type: string, fields: object): Promise<Frame> {
    this.said += 1;
    const id = String(this.said);
    const heard = new Promise<Frame>((resolve) => {
      this.waiting.set(id, resolve);
    });
    this.ws.send(JSON.stringify({ type, cmd_id: id, ...fields }));
    return heard;
  }

  async command(type: string, fields: object): Promise<Answer> {
    return (await this.say(type, fields)) as Answer & Frame;
  }

  close(): void {
    this.ws.terminate();
  }

  private heard(data: Buffer): void {
    const frame = JSON.parse(data.toString()) as Frame;
    if (frame.cmd_id === undefined) {
      this.onEvent(frame);
      return;
    }
    const resolve = this.waiting.get(frame.cmd_id);
    this.waiting.delete(frame.cmd_id);
    resolve?.(frame);
  }
}
