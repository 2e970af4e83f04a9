import type { IncomingMessage, ServerResponse } from 'node:http';
import { nextTurn, type Clock } from '#libs/platform/time/clock.js';
import { networkOf } from '#libs/platform/network-of.js';
import { noTracing, type Span, type Tracing } from '#libs/platform/tracing/tracing.js';
import { CheckSequence } from './checks/check-sequence.js';
import { GONE, Inspection, type Authenticator, type CheckOutcome } from './checks/check.js';
import type { Dialect } from './dialect/dialect.js';
import { CLOSING_FAULTS, type Fault } from './dialect/fault.js';
import { templateOf, type BoundEndpoint, type Call, type EndpointSpec } from './endpoint.js';
import { PathTree } from './path-tree.js';
import type { Reply } from './reply/reply.js';
import { ReplySender, type Exchange } from './exchange/reply-sender.js';
import { bearerToken, givenRequestId } from './exchange/request-headers.js';
import type { Connections } from './server/connections.js';
import type { ServerLimits } from './server/server-limits.js';
import { FairQueue } from './fair-queue.js';

/** An answered request, for logs and metrics. */
export interface Answered {
  readonly requestId: string;
  /** Undefined if no endpoint was found. */
  readonly operationId: string | undefined;
  readonly status: number;
  readonly nanos: bigint;
}

export interface EdgePorts {
  readonly dialect: Dialect;
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly newRequestId: () => string;
  /** Called when a handler fails. The caller gets only the request id. */
  readonly onFault: (error: unknown, requestId: string, operationId: string | undefined) => void;
  /** Whether the error only means that a dependency is unreachable. */
  readonly isOutage?: (error: unknown) => boolean;
  readonly onAnswer?: (answered: Answered) => void;
  /** Every request begins a trace of its own; the caller's trace is ignored. */
  readonly tracing?: Tracing;
}

/** A read with a query returns a page of rows, which costs several times as much as one row. */
const PAGE_WEIGHT = 4;

/** A longer reply is costly to send, so each network gets only one in a turn of the event loop. */
const LARGE_CHARS = 65_536;

/** The logged status if the client left before the reply. */
const CLIENT_GONE = 499;

interface Outcome {
  readonly reply: Reply | undefined;
  /** Undefined if no endpoint was found. */
  readonly spec: EndpointSpec | undefined;
}

/** Checks every request of a listener by its dialect, calls the endpoint, and sends the reply. */
export class Dispatcher {
  private readonly checks: CheckSequence;
  private readonly sender: ReplySender;
  private readonly reads: FairQueue;
  private readonly largeReplies: FairQueue;
  private readonly tracing: Tracing;
  private readonly dialect: Dialect;

  constructor(
    endpoints: readonly BoundEndpoint[],
    limits: ServerLimits,
    private readonly connections: Connections,
    private readonly ports: EdgePorts,
  ) {
    const { authenticator, clock, dialect } = ports;
    const paths = new PathTree(dialect.decodesPaths);
    for (const bound of endpoints) paths.add(bound);
    this.dialect = dialect;
    this.checks = new CheckSequence(dialect.checks, { dialect, paths, authenticator, limits, connections });
    this.sender = new ReplySender(limits, connections, clock, dialect);
    this.reads = new FairQueue(limits, clock);
    this.largeReplies = new FairQueue({ ...limits, readsPerAccount: 1 }, clock);
    this.tracing = ports.tracing ?? noTracing;
  }

  /** Checks a handshake, which gets no ordinary reply. Its token may come in another header, so the caller passes it. */
  async admit(request: IncomingMessage, token: string | undefined): Promise<Inspection | Fault> {
    const inspection = new Inspection(request);
    inspection.token = token;
    const refused = await this.checks.handshake(inspection);
    if (refused === GONE) throw new Error('a handshake was asked for a body');
    return refused ?? inspection;
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    this.connections.enter(request, response, (entry) => {
      const requestId = givenRequestId(request, this.dialect.requestId) ?? this.ports.newRequestId();
      const exchange: Exchange = { request, response, requestId };
      if (entry === 'welcome') void this.serve(exchange);
      else
        void this.send(exchange, {
          reply: this.dialect.refuse({ kind: 'too-many-pipelined' }),
          spec: undefined,
        });
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
    if (span !== undefined) this.describe(span, exchange, outcome);
    span?.end();
  }

  private async answer(exchange: Exchange): Promise<Outcome> {
    const inspection = new Inspection(exchange.request, exchange.response);
    inspection.token = bearerToken(exchange.request);
    try {
      const refused = await this.checks.request(inspection);
      const reply =
        refused === undefined ? await this.perform(exchange, inspection) : this.refusal(exchange, refused);
      return this.outcome(reply, inspection);
    } catch (error) {
      return this.outcome(this.replyTo(error, exchange, inspection.admittedSpec), inspection);
    }
  }

  private outcome(reply: Reply | undefined, inspection: Inspection): Outcome {
    const withLimits = this.withRate(reply, inspection);
    const completed = withLimits && this.dialect.complete?.(withLimits, inspection.request);
    return { reply: completed ?? withLimits, spec: inspection.admittedSpec };
  }

  private replyTo(error: unknown, { requestId }: Exchange, spec: EndpointSpec | undefined): Reply {
    const thrown = this.dialect.thrownReply?.(error);
    if (thrown !== undefined) return thrown;
    if (this.ports.isOutage?.(error) === true) return this.dialect.refuse({ kind: 'unavailable', spec });
    this.ports.onFault(error, requestId, spec?.operationId);
    return this.dialect.refuse({ kind: 'internal-error', spec });
  }

  private refusal({ request }: Exchange, refused: NonNullable<CheckOutcome>): Reply | undefined {
    if (refused === GONE) return undefined;
    if (CLOSING_FAULTS.has(refused.kind)) this.connections.close(request);
    return this.dialect.refuse(refused);
  }

  private withRate(reply: Reply | undefined, { rate }: Inspection): Reply | undefined {
    if (reply === undefined || rate === undefined) return reply;
    return { ...reply, headers: { ...this.dialect.rateLimitHeaders(rate), ...reply.headers } };
  }

  /** Reads wait in a fair queue; token buckets limit commands. A read is skipped if its client has disconnected. */
  private perform(exchange: Exchange, inspection: Inspection): Promise<Reply | undefined> | Reply {
    const endpoint = inspection.found;
    const call = callOf(exchange, inspection);
    if (endpoint.spec.method !== 'GET' || call.principal === undefined) return endpoint.handle(call);
    const { query, readWeight } = endpoint.spec;
    const weight = readWeight ?? (query === undefined ? 1 : PAGE_WEIGHT);
    return this.reads.take(call.principal.account_id, weight, () =>
      exchange.response.destroyed ? undefined : endpoint.handle(call),
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

  /** The documents need no token, so turns are by network address. */
  private sendInTurn(exchange: Exchange, reply: Reply): Promise<void> {
    const network = networkOf(exchange.request.socket.remoteAddress ?? '');
    return this.largeReplies.take(network, 1, async () => {
      await this.sender.send(exchange, reply);
      await nextTurn();
    });
  }

  private describe(span: Span, { request, requestId }: Exchange, { reply, spec }: Outcome): void {
    const { method = '' } = request;
    span.set({ method, requestId, status: reply?.status ?? CLIENT_GONE });
    if (reply !== undefined) span.set({ code: this.dialect.codeOf(reply) });
    if (spec === undefined) return;
    const route = templateOf(spec.path);
    span.rename(`${method} ${route}`);
    span.set({ route, operation: spec.operationId });
  }
}

function callOf({ request, requestId }: Exchange, inspection: Inspection): Call {
  return {
    requestId,
    principal: inspection.principal,
    bearerToken: inspection.token,
    ids: inspection.ids,
    query: inspection.query,
    body: inspection.body,
    idempotencyKey: inspection.idempotencyKey,
    accept: request.headers.accept,
    remoteAddress: request.socket.remoteAddress,
    headers: request.headers,
  };
}

function isLarge({ body }: Reply): boolean {
  return typeof body === 'string' && body.length > LARGE_CHARS;
}
