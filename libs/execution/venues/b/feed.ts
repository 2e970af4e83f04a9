import { WebSocket, type RawData } from 'ws';
import { z } from 'zod';
import { NANOS_PER_MILLI } from '#libs/base/instant.js';
import { watchPulse } from '#libs/link/link-pulse.js';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { SignerFailure, type Signer } from '../../protocol/signer-protocol.js';
import { parsedJson } from '../http-exchange.js';
import type { VenueAccount } from '../port.js';
import { observedFill, observedOrder } from './orders.js';
import { bFill, bOrder, type BFill, type BOrder } from './shapes.js';

type Followed = Parameters<VenueAccount['follow']>[0];

export interface FeedParts {
  /** `ws://host/trade-api/ws/v2`. */
  readonly url: string;
  readonly signer: Signer;
  readonly clock: Clock;
}

const AGAIN_FIRST_MILLIS = 250;
const AGAIN_MAX_MILLIS = 5_000;
const HANDSHAKE_MILLIS = 5_000;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MILLIS = 1_000;

const frame = z.object({ type: z.string(), msg: z.unknown() });
const fillTimes = z.object({
  market_ticker: z.string().min(1),
  ts_ms: z.number().nullish(),
  ts: z.number().nullish(),
});
const orderTimes = z.object({
  expiration_ts_ms: z.number().nullish(),
  last_updated_ts_ms: z.number().nullish(),
});

/** The feed names some fields differently from REST. */
function feedFill(msg: unknown): BFill | undefined {
  const times = fillTimes.safeParse(msg);
  if (!times.success || typeof msg !== 'object') return undefined;
  const { market_ticker: ticker, ts_ms, ts } = times.data;
  const created_time = new Date(ts_ms ?? (ts ?? 0) * MILLIS).toISOString();
  return bFill.safeParse({ ...msg, ticker, created_time }).data;
}

function feedOrder(msg: unknown): BOrder | undefined {
  const times = orderTimes.safeParse(msg);
  if (!times.success || typeof msg !== 'object') return undefined;
  const { expiration_ts_ms: expires, last_updated_ts_ms: updated } = times.data;
  return bOrder.safeParse({
    ...msg,
    ...(expires ? { expiration_time: new Date(expires).toISOString() } : {}),
    ...(updated ? { last_update_time: new Date(updated).toISOString() } : {}),
  }).data;
}

/** The venue's user socket: one connection for each followed account, made again when it is lost. */
export class VenueBFeed {
  constructor(private readonly parts: FeedParts) {}

  follow(user_id: string, on: Followed): { close(): void } {
    const following = new Following(this.parts, user_id, on);
    following.start();
    return following;
  }
}

class Following {
  private socket: WebSocket | undefined;
  private cancel: Cancel = () => undefined;
  private againMillis = AGAIN_FIRST_MILLIS;
  private isClosed = false;

  constructor(
    private readonly parts: FeedParts,
    private readonly user_id: string,
    private readonly on: Followed,
  ) {}

  start(): void {
    void this.connect();
  }

  close(): void {
    this.isClosed = true;
    this.cancel();
    this.socket?.terminate();
  }

  private async connect(): Promise<void> {
    const headers = await this.headers();
    if (this.isClosed) return;
    if (headers === undefined) {
      this.again();
      return;
    }
    const socket = new WebSocket(this.parts.url, {
      headers,
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: HANDSHAKE_MILLIS,
    });
    this.socket = socket;
    socket.on('open', () => {
      watchPulse(socket, this.parts.clock);
      socket.send(JSON.stringify({ id: 1, cmd: 'subscribe', params: { channels: ['fill', 'user_orders'] } }));
    });
    socket.on('message', (data) => {
      this.receive(data);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.again();
    });
  }

  private async headers(): Promise<Readonly<Record<string, string>> | undefined> {
    const { signer, url, clock } = this.parts;
    try {
      const signed = await signer.sign({
        ...{ venue: 'venue_b', user_id: this.user_id, method: 'GET', path: new URL(url).pathname },
        ...{ timestamp_ms: (clock.epochNanos() / NANOS_PER_MILLI).toString(), body_sha256: '' },
      });
      return signed.headers;
    } catch (error) {
      if (error instanceof SignerFailure) return undefined;
      throw error;
    }
  }

  private again(): void {
    if (this.isClosed) return;
    this.cancel = this.parts.clock.after(this.againMillis, () => void this.connect());
    this.againMillis = Math.min(this.againMillis * 2, AGAIN_MAX_MILLIS);
  }

  private receive(data: RawData): void {
    const read = frame.safeParse(parsedJson(textOf(data)));
    if (!read.success) return;
    const { type, msg } = read.data;
    // From here on the feed misses nothing. A read of the account must find what happened earlier.
    if (type === 'subscribed') {
      this.againMillis = AGAIN_FIRST_MILLIS;
      this.on.reconnected();
    }
    if (type === 'fill') {
      const fill = feedFill(msg);
      if (fill !== undefined) this.on.fill(observedFill(fill));
      // An unreadable fill still happened, so the account must be read.
      else this.on.reconnected();
    }
    if (type === 'user_order') {
      const order = feedOrder(msg);
      if (order !== undefined) this.on.order(observedOrder(order));
    }
  }
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString('utf8');
  return Array.isArray(data) ? Buffer.concat(data).toString('utf8') : Buffer.from(data).toString('utf8');
}
