import type { IncomingMessage, ServerResponse } from 'node:http';
import { nextTurn, type Clock } from '#libs/platform/time/clock.js';
import { networkOf } from '#libs/platform/network-of.js';
import { noTracing, type Span, type Tracing } from '#libs/platform/tracing/tracing.js';
import { Admission, outageOf, type Admitted, type Authenticator } from './admission.js';
import type { Connections } from './connections.js';
import { templateOf, type BoundEndpoint, type Call, type EndpointSpec } from './endpoint.js';
import { PathTree } from './path-tree.js';
import {
  codeOf,
  HEADERS_TOO_LARGE,
  INTERNAL_ERROR,
  MALFORMED_REQUEST,
  TOO_MANY_PIPELINED,
  UNSUPPORTED_TRANSFER_CODING,
  type Reply,
} from './reply/reply.js';
import { ReplySender, type Exchange } from './exchange/reply-sender.js';
import { givenRequestId } from './exchange/request-headers.js';
import { RequestReader } from './exchange/request-reader.js';
import type { ServerLimits } from './server-limits.js';
import { Turns } from './turns.js';

/** One answered request, for logs and metrics. */
export interface Answered {
  readonly requestId: string;
  /** Undefined where no endpoint was found. */
  readonly operationId: string | undefined;
  readonly status: number;
  readonly nanos: bigint;
}

export interface EdgePorts {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly newRequestId: () => string;
  /** Something threw that is nobody's refusal. The caller learns nothing of it but the request id. */
  readonly onFault: (error: unknown, requestId: string, operationId: string | undefined) => void;
  /** Whether what threw only says that something the process depends on is away, which is no fault of anybody's. */
  readonly isOutage?: (error: unknown) => boolean;
  readonly onAnswer?: (answered: Answered) => void;
  /** Every request begins a trace of its own, whatever trace the caller says it belongs to. */
  readonly tracing?: Tracing;
}

/** After these nothing on the connection is taken for a request any more. */
const LAST_WORDS: ReadonlySet<Reply> = new Set([
  MALFORMED_REQUEST,
  UNSUPPORTED_TRANSFER_CODING,
  HEADERS_TOO_LARGE,
]);

/** What has a query is a page of many rows, and costs several times what one row does. */
const PAGE_WEIGHT = 4;

/** An answer longer than this is work in itself, whoever asks: of one network one leaves in a turn of the event loop. */
const LARGE_CHARS = 65_536;

/** Of a request whose client had gone before it was answered. */
const CLIENT_GONE = 499;

interface Outcome {
  readonly reply: Reply | undefined;
  /** Undefined where no endpoint was found. */
  readonly spec: EndpointSpec | undefined;
}

/** Takes every request of a listener through the checks, in the order of the contract, to its endpoint, and answers it. */
export class Dispatcher {
  private readonly admission: Admission;
  private readonly reader: RequestReader;
  private readonly sender: ReplySender;
  private readonly turns: Turns;
  private readonly departures: Turns;
  private readonly tracing: Tracing;

  constructor(
    endpoints: readonly BoundEndpoint[],
    limits: ServerLimits,
    private readonly connections: Connections,
    private readonly ports: EdgePorts,
  ) {
    const paths = new PathTree();
    for (const bound of endpoints) paths.add(bound);
    this.admission = new Admission(paths, ports.authenticator, limits);
    this.reader = new RequestReader(limits, connections);
    this.sender = new ReplySender(limits, connections, ports.clock);
    this.turns = new Turns(limits, ports.clock);
    this.departures = new Turns({ ...limits, readsPerAccount: 1 }, ports.clock);
    this.tracing = ports.tracing ?? noTracing;
  }

  /** The checks of a request's head alone, for what is not going to be answered as one. */
  admit(request: IncomingMessage, token?: string): Promise<Admitted | Reply> {
    return this.admission.admit(request, token);
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    this.connections.enter(request, response, (entry) => {
      const requestId = givenRequestId(request) ?? this.ports.newRequestId();
      const exchange: Exchange = { request, response, requestId };
      if (entry === 'welcome') void this.serve(exchange);
      else void this.send(exchange, { reply: TOO_MANY_PIPELINED, spec: undefined });
    });
  };

  private serve(exchange: Exchange): Promise<void> {
    const span = this.tracing.root(exchange.request.method ?? '', 'server');
    if (span === undefined) return this.exchange(exchange);
    return this.tracing.within(span, () => this.exchange(exchange, span));
  }

  private async exchange(exchange: Exchange, span?: Span): Promise<void> {
    const started = this.ports.clock.monotonicNanos();
    const outcome = await this.answer(exchange);
    await this.send(exchange, outcome);
    this.ports.onAnswer?.({
      requestId: exchange.requestId,
      operationId: outcome.spec?.operationId,
      status: outcome.reply?.status ?? CLIENT_GONE,
      nanos: this.ports.clock.monotonicNanos() - started,
    });
    if (span !== undefined) tell(span, exchange, outcome);
    span?.end();
  }

  private async answer(exchange: Exchange): Promise<Outcome> {
    let spec: EndpointSpec | undefined;
    try {
      const admitted = await this.admission.admit(exchange.request);
      if ('status' in admitted) {
        if (LAST_WORDS.has(admitted)) this.connections.close(exchange.request);
        return { reply: admitted, spec: undefined };
      }
      spec = admitted.endpoint.spec;
      const call = await this.reader.read(exchange, admitted);
      if (call === undefined || 'status' in call) return { reply: call, spec };
      return { reply: await this.perform(exchange, admitted.endpoint, call), spec };
    } catch (error) {
      if (this.ports.isOutage?.(error) === true) return { reply: outageOf(spec), spec };
      this.ports.onFault(error, exchange.requestId, spec?.operationId);
      return { reply: INTERNAL_ERROR, spec };
    }
  }

  /** Commands are metered by their token buckets; reads take turns. One that nobody waits for any more is not begun. */
  private perform(
    { response }: Exchange,
    endpoint: BoundEndpoint,
    call: Call,
  ): Promise<Reply | undefined> | Reply {
    if (endpoint.spec.method !== 'GET' || call.principal === undefined) return endpoint.handle(call);
    const weight = endpoint.spec.query === undefined ? 1 : PAGE_WEIGHT;
    return this.turns.take(call.principal.account_id, weight, () =>
      response.destroyed ? undefined : endpoint.handle(call),
    );
  }

  private async send(exchange: Exchange, { reply, spec }: Outcome): Promise<void> {
    if (reply === undefined) return;
    try {
      if (isLarge(reply)) await this.sendInTurn(exchange, reply);
      else await this.sender.send(exchange, reply);
    } catch (error) {
      this.ports.onFault(error, exchange.requestId, spec?.operationId);
      exchange.response.destroy();
    }
  }

  /** Nobody needs a token for the documents, so their readers take turns by where they are. */
  private sendInTurn(exchange: Exchange, reply: Reply): Promise<void> {
    const network = networkOf(exchange.request.socket.remoteAddress ?? '');
    return this.departures.take(network, 1, async () => {
      await this.sender.send(exchange, reply);
      await nextTurn();
    });
  }
}

function isLarge({ body }: Reply): boolean {
  return typeof body === 'string' && body.length > LARGE_CHARS;
}

function tell(span: Span, { request, requestId }: Exchange, { reply, spec }: Outcome): void {
  const { method = '' } = request;
  span.set({ method, requestId, status: reply?.status ?? CLIENT_GONE });
  if (reply !== undefined) span.set({ code: codeOf(reply) });
  if (spec === undefined) return;
  const route = templateOf(spec.path);
  span.rename(`${method} ${route}`);
  span.set({ route, operation: spec.operationId });
}
