import { MISMATCH } from '#libs/edge/decoding/decode.js';
import { instant } from '#libs/edge/decoding/decode-scalars.js';
import type { BoundEndpoint, Call, EndpointSpec } from '#libs/edge/endpoint.js';
import { endpointsOf } from '#libs/edge/endpoint-decorator.js';
import { idempotencyKey } from '#libs/edge/exchange/idempotency-key.js';
import { errorReply } from '#libs/edge/reply/flat-errors.js';
import { payloadOf, type Reply } from '#libs/edge/reply/reply.js';
import { AUCTION_DIALECT, FORBIDDEN, INTERNAL_ERROR } from '../refusals.js';
import type { JsonValue } from '#libs/edge/decoding/strict-json.js';
import {
  inSpan,
  noTracing,
  type Span,
  type SpanFacts,
  type Tracing,
} from '#libs/platform/tracing/tracing.js';
import type { StreamCommandName } from '../../stream/client-messages.js';
import type { CommandAnswer, CommandCall, Commands } from '../../stream/ports.js';
import { cancelAuction } from '../auctions/auction-endpoints.js';
import {
  preflightQuote,
  reviseQuote,
  submitQuote,
  withdrawAllQuotes,
  withdrawQuote,
} from '../quotes/quote-endpoints.js';

const ENDPOINTS: Readonly<Record<StreamCommandName, EndpointSpec>> = {
  'quote.submit': submitQuote,
  'quote.revise': reviseQuote,
  'quote.withdraw': withdrawQuote,
  'quote.withdraw_all': withdrawAllQuotes,
  'quote.preflight': preflightQuote,
  'auction.cancel': cancelAuction,
};
const INVALID = errorReply(400, 'invalid_json');
const EXPIRED = errorReply(422, 'COMMAND_EXPIRED', 'The command came after its not_after.');

export interface CommandPorts {
  readonly newRequestId: () => string;
  readonly now: () => string;
  /** Every command starts a trace of its own. */
  readonly tracing?: Tracing;
}

/** Runs the commands of a stream as calls of the same endpoints as HTTP, so that both behave alike. */
export class StreamCommands implements Commands {
  private readonly bound: ReadonlyMap<EndpointSpec, BoundEndpoint>;
  private readonly tracing: Tracing;

  constructor(
    controllers: readonly object[],
    private readonly ports: CommandPorts,
  ) {
    this.bound = new Map(endpointsOf(controllers).map((endpoint) => [endpoint.spec, endpoint]));
    this.tracing = ports.tracing ?? noTracing;
  }

  async run(call: CommandCall): Promise<CommandAnswer> {
    const requestId = this.ports.newRequestId();
    const span = this.tracing.root(call.name, 'server');
    const reply =
      span === undefined ? await this.answer(call, requestId) : await this.traced(span, call, requestId);
    return { status: reply.status, body: payloadOf(reply) ?? '' };
  }

  private answer(call: CommandCall, requestId: string): Reply | Promise<Reply> {
    const endpoint = this.bound.get(ENDPOINTS[call.name]);
    if (endpoint === undefined) throw new Error(`no endpoint for ${call.name}`);
    const read = this.read(endpoint, call, requestId);
    return 'status' in read ? read : endpoint.handle(read);
  }

  private traced(span: Span, call: CommandCall, requestId: string): Promise<Reply> {
    span.set({ requestId, operation: ENDPOINTS[call.name].operationId });
    return inSpan(span, () => this.tracing.within(span, () => this.answer(call, requestId)), {
      done: factsOf,
      failed: () => factsOf(INTERNAL_ERROR),
    });
  }

  /** Makes the checks of HTTP requests, in the same order. */
  private read(
    endpoint: BoundEndpoint,
    { fields, principal, connectionId }: CommandCall,
    requestId: string,
  ): Call | Reply {
    const { spec } = endpoint;
    if (spec.capability !== undefined && !principal.capabilities.has(spec.capability)) return FORBIDDEN;
    // One copy without the fields that are not in the body: deleting fields from an object is many times slower.
    const { idempotency_key: key, not_after: notAfterText, auction_id, quote_id, ...content } = fields;
    const ids = idsIn(endpoint, { auctionID: auction_id, quoteID: quote_id });
    if ('status' in ids) return ids;
    const body = spec.body?.decode(content);
    const notAfter = notAfterText === undefined ? undefined : instant.decode(notAfterText);
    if (body === MISMATCH || notAfter === MISMATCH || !isTextOrAbsent(key)) return INVALID;
    const named =
      spec.idempotency === 'required' ? idempotencyKey(key === undefined ? [] : [key]) : undefined;
    if (named?.fault !== undefined) return AUCTION_DIALECT.refuse({ kind: named.fault, spec });
    // Without a stored answer, the time is checked here and not by an owner.
    if (named === undefined && notAfter !== undefined && notAfter < this.ports.now()) return EXPIRED;
    return {
      requestId,
      principal,
      bearerToken: undefined,
      ids: ids.values,
      query: undefined,
      body,
      idempotencyKey: named?.key,
      accept: undefined,
      remoteAddress: undefined,
      overStream: { connectionId, ...(notAfter === undefined ? {} : { notAfter }) },
    };
  }
}

/** The ids of the endpoint's path, out of all ids that a message may have. */
function idsIn(
  { spec, idNames }: BoundEndpoint,
  named: Readonly<Record<string, JsonValue | undefined>>,
): { readonly values: Readonly<Record<string, string>> } | Reply {
  const values: Record<string, string> = {};
  for (const name of idNames) {
    const kind = spec.ids?.[name];
    if (kind === undefined) throw new Error(`${spec.operationId} has no id ${name}`);
    const value = named[name];
    if (typeof value !== 'string') return INVALID;
    if (!kind.accepts(value)) return errorReply(400, kind.fault);
    values[name] = value;
  }
  // An id that is not in the endpoint's path is an unknown field.
  const hasUnknownId = Object.keys(named).some(
    (name) => named[name] !== undefined && !idNames.includes(name),
  );
  return hasUnknownId ? INVALID : { values };
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function factsOf(reply: Reply): SpanFacts {
  return { status: reply.status, code: AUCTION_DIALECT.codeOf(reply) };
}
