import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '#libs/platform/clock.js';
import { Admission, outageOf, type Admitted, type Authenticator } from './admission.js';
import type { Connections } from './connections.js';
import type { BoundEndpoint, EndpointSpec } from './endpoint.js';
import { PathTree } from './path-tree.js';
import {
  HEADERS_TOO_LARGE,
  INTERNAL_ERROR,
  MALFORMED_REQUEST,
  TOO_MANY_PIPELINED,
  UNSUPPORTED_TRANSFER_CODING,
  type Reply,
} from './reply.js';
import { ReplySender, type Exchange } from './reply-sender.js';
import { givenRequestId } from './request-headers.js';
import { RequestReader } from './request-reader.js';
import type { ServerLimits } from './server-limits.js';

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
}

/** After these nothing on the connection is taken for a request any more. */
const LAST_WORDS: ReadonlySet<Reply> = new Set([
  MALFORMED_REQUEST,
  UNSUPPORTED_TRANSFER_CODING,
  HEADERS_TOO_LARGE,
]);

interface Outcome {
  readonly reply: Reply | undefined;
  readonly operationId: string | undefined;
}

/** Takes every request of a listener through the checks, in the order of the contract, to its endpoint, and answers it. */
export class Dispatcher {
  private readonly admission: Admission;
  private readonly reader: RequestReader;
  private readonly sender: ReplySender;

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
  }

  /** The checks of a request's head alone, for what is not going to be answered as one. */
  admit(request: IncomingMessage, token?: string): Promise<Admitted | Reply> {
    return this.admission.admit(request, token);
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const entry = this.connections.enter(request, response);
    if (entry === 'ignored') return;
    const requestId = givenRequestId(request) ?? this.ports.newRequestId();
    const exchange: Exchange = { request, response, requestId };
    if (entry === 'welcome') void this.serve(exchange);
    else void this.send(exchange, { reply: TOO_MANY_PIPELINED, operationId: undefined });
  };

  private async serve(exchange: Exchange): Promise<void> {
    const started = this.ports.clock.monotonicNanos();
    const outcome = await this.answer(exchange);
    await this.send(exchange, outcome);
    this.ports.onAnswer?.({
      requestId: exchange.requestId,
      operationId: outcome.operationId,
      status: outcome.reply?.status ?? 499,
      nanos: this.ports.clock.monotonicNanos() - started,
    });
  }

  private async answer(exchange: Exchange): Promise<Outcome> {
    let spec: EndpointSpec | undefined;
    try {
      const admitted = await this.admission.admit(exchange.request);
      if ('status' in admitted) {
        if (LAST_WORDS.has(admitted)) this.connections.close(exchange.request);
        return { reply: admitted, operationId: undefined };
      }
      spec = admitted.endpoint.spec;
      const { operationId } = spec;
      const call = await this.reader.read(exchange, admitted);
      if (call === undefined || 'status' in call) return { reply: call, operationId };
      return { reply: await admitted.endpoint.handle(call), operationId };
    } catch (error) {
      const operationId = spec?.operationId;
      if (this.ports.isOutage?.(error) === true) return { reply: outageOf(spec), operationId };
      this.ports.onFault(error, exchange.requestId, operationId);
      return { reply: INTERNAL_ERROR, operationId };
    }
  }

  private async send(exchange: Exchange, { reply, operationId }: Outcome): Promise<void> {
    if (reply === undefined) return;
    try {
      await this.sender.send(exchange, reply);
    } catch (error) {
      this.ports.onFault(error, exchange.requestId, operationId);
      exchange.response.destroy();
    }
  }
}
