import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  readonly from: bigint;
  readonly to: bigint;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** `service.instance.id` of the process of the span. */
  readonly process: string;
}

interface Attribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number;
    readonly doubleValue?: number;
  };
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Wire[] }[];
  }[];
}

interface Wire {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

const KINDS = ['other', 'internal', 'server', 'client'] as const;
const STATUS_ERROR = 2;
const DRIP_MILLIS = 10;

/** Receives OTLP over HTTP like a collector, or misbehaves as a test sets it. */
export class TraceReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Every body as it was received. */
  readonly bodies: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly paths: string[] = [];
  /** `hangs` reads and never replies. `drips` sends a reply that never ends. */
  mood: 'takes' | 'refuses' | 'hangs' | 'drips' = 'takes';
  /** Whether a client still receives such an endless reply. */
  isDripping = false;
  private constructor(private readonly server: Server) {}

  static async open(): Promise<TraceReceiver> {
    const server = createServer();
    const receiver: TraceReceiver = new TraceReceiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (receiver.mood === 'hangs') return;
        if (receiver.mood === 'drips') {
          receiver.drip(response);
          return;
        }
        if (receiver.mood === 'takes') {
          receiver.headers.push(request.headers);
          receiver.paths.push(`${request.method ?? ''} ${request.url ?? ''}`);
          receiver.take(Buffer.concat(chunks).toString());
        }
        response.writeHead(receiver.mood === 'takes' ? 200 : 400, { 'content-type': 'application/json' });
        response.end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  private drip(response: ServerResponse): void {
    this.isDripping = true;
    response.writeHead(200, { 'content-type': 'application/json' });
    const dripping = setInterval(() => response.write(' '), DRIP_MILLIS);
    response.on('close', () => {
      clearInterval(dripping);
      this.isDripping = false;
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Stops listening. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  ofTrace(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  private take(body: string): void {
    this.bodies.push(body);
    for (const { resource, scopeSpans } of (JSON.parse(body) as Exported).resourceSpans) {
      const process = String(valuesOf(resource.attributes)['service.instance.id']);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) this.spans.push(received(span, process));
    }
  }
}

function received(span: Wire, process: string): ReceivedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? '',
    name: span.name,
    kind: KINDS[span.kind] ?? 'other',
    from: BigInt(span.startTimeUnixNano),
    to: BigInt(span.endTimeUnixNano),
    isError: span.status.code === STATUS_ERROR,
    attributes: valuesOf(span.attributes),
    process,
  };
}

function valuesOf(attributes: readonly Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.intValue ?? value.doubleValue ?? 'something else',
    ]),
  );
}
