import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import {
  SignerFailure,
  type ActionSigning,
  type HeaderSigning,
  type SignedAction,
  type SignedHeaders,
  type Signer,
  type SignerAccount,
  type SignerRequest,
  type SignerStatus,
} from '../protocol/signer-protocol.js';
import type { VenueId } from '../rules/venues.js';
import { Lines, parsedLine } from './lines.js';

export interface SignerClientOptions {
  /** Path of the signer's Unix socket. */
  readonly path: string;
  readonly serviceToken: () => string;
  readonly clock: Clock;
  /** How long a request waits for a signer that does not answer. */
  readonly patienceMillis?: number;
}

const PATIENCE_MILLIS = 5_000;
const AGAIN_MILLIS = 50;
const MOST_PENDING = 1_000;

const HEADERS = z.object({ signed_at: z.string(), headers: z.record(z.string(), z.string()) });
const ACTION = z.object({
  signed_at: z.string(),
  signature: z.object({ r: z.string(), s: z.string(), v: z.number() }),
});
const ACCOUNT = z.object({
  account: z.string(),
  agent: z.string().exactOptional(),
  key_id: z.string().exactOptional(),
  public_key_pem: z.string().exactOptional(),
});
const STATUS = z.object({ keys: z.number(), signatures: z.number() });
const FAILURE = z.object({
  ok: z.literal(false),
  code: z.enum(['SIGNER_REFUSED', 'SIGNER_UNAVAILABLE', 'NOT_LINKED']),
  message: z.string(),
});
const ENTRY = z.object({ id: z.number(), reply: z.unknown() });

interface PendingRequest {
  readonly frame: string;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (failure: SignerFailure) => void;
  readonly cancel: Cancel;
}

/**
 * One connection to the signer, shared by all requests of a process. Requests without an answer are sent again when
 * it breaks, byte for byte. The record may then have two signatures of one text; the caller gets one of them.
 */
export class SignerClient implements Signer {
  private readonly waiting = new Map<number, PendingRequest>();
  private socket: Socket | undefined;
  private isConnected = false;
  private isClosed = false;
  private nextId = 1;

  constructor(private readonly options: SignerClientOptions) {}

  sign(request: Omit<HeaderSigning, 'op'>): Promise<SignedHeaders>;
  sign(request: Omit<ActionSigning, 'op'>): Promise<SignedAction>;
  sign(
    request: Omit<HeaderSigning, 'op'> | Omit<ActionSigning, 'op'>,
  ): Promise<SignedHeaders | SignedAction> {
    return request.venue === 'venue_b'
      ? this.ask({ op: 'sign', ...request }, HEADERS)
      : this.ask({ op: 'sign', ...request }, ACTION);
  }

  createKey(user_id: string, venue: VenueId): Promise<SignerAccount> {
    return this.ask({ op: 'create_key', user_id, venue }, ACCOUNT);
  }

  nameKey(
    user_id: string,
    key: { readonly account: string; readonly key_id: string },
  ): Promise<SignerAccount> {
    return this.ask({ op: 'name_key', user_id, venue: 'venue_b', ...key }, ACCOUNT);
  }

  storeKey(
    user_id: string,
    key: { readonly account: string; readonly key_id: string; readonly private_key_pem: string },
  ): Promise<SignerAccount> {
    return this.ask({ op: 'store_key', user_id, venue: 'venue_b', ...key }, ACCOUNT);
  }

  async accountOf(user_id: string, venue: VenueId): Promise<SignerAccount | undefined> {
    try {
      return await this.ask({ op: 'account_of', user_id, venue }, ACCOUNT);
    } catch (error) {
      if (error instanceof SignerFailure && error.code === 'NOT_LINKED') return undefined;
      throw error;
    }
  }

  status(): Promise<SignerStatus> {
    return this.ask({ op: 'status' }, STATUS);
  }

  close(): void {
    this.isClosed = true;
    this.socket?.destroy();
    for (const [id, { reject }] of this.waiting) {
      this.settled(id);
      reject(unavailable());
    }
  }

  private async ask<T>(request: SignerRequest, schema: z.ZodType<T>): Promise<T> {
    const reply = await this.replyTo(request);
    const failure = FAILURE.safeParse(reply);
    if (failure.success) throw new SignerFailure(failure.data.code, failure.data.message);
    const read = schema.safeParse(reply);
    if (!read.success)
      throw new SignerFailure('SIGNER_UNAVAILABLE', 'the answer of the signer cannot be read');
    return read.data;
  }

  private replyTo(request: SignerRequest): Promise<unknown> {
    if (this.isClosed || this.waiting.size >= MOST_PENDING) return Promise.reject(unavailable());
    const id = this.nextId++;
    const frame = `${JSON.stringify({ id, request })}\n`;
    return new Promise((resolve, reject) => {
      const { clock, patienceMillis = PATIENCE_MILLIS } = this.options;
      const cancel = clock.after(patienceMillis, () => {
        this.settled(id);
        reject(unavailable());
      });
      this.waiting.set(id, { frame, resolve, reject, cancel });
      if (this.isConnected) this.socket?.write(frame);
      else this.connect();
    });
  }

  private connect(): void {
    if (this.socket !== undefined || this.isClosed) return;
    const socket = connect(this.options.path);
    const lines = new Lines();
    this.socket = socket;
    socket.on('connect', () => {
      this.isConnected = true;
      const frames = [...this.waiting.values()].map(({ frame }) => frame);
      socket.write(`${JSON.stringify({ token: this.options.serviceToken() })}\n${frames.join('')}`);
    });
    socket.on('data', (chunk) => {
      const isWhole = lines.take(Buffer.from(chunk), (line) => {
        this.take(line);
      });
      if (!isWhole) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.socket = undefined;
      this.isConnected = false;
      if (this.waiting.size > 0)
        this.options.clock.after(AGAIN_MILLIS, () => {
          if (this.waiting.size > 0) this.connect();
        });
    });
  }

  private take(line: string): void {
    const entry = ENTRY.safeParse(parsedLine(line));
    if (!entry.success) return;
    const waiting = this.waiting.get(entry.data.id);
    if (waiting === undefined) return;
    this.settled(entry.data.id);
    waiting.resolve(entry.data.reply);
  }

  private settled(id: number): void {
    this.waiting.get(id)?.cancel();
    this.waiting.delete(id);
  }
}

function unavailable(): SignerFailure {
  return new SignerFailure('SIGNER_UNAVAILABLE', 'the signer does not answer');
}
