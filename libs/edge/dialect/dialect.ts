import type { Check } from '../checks/check.js';
import type { JsonRules } from '../decoding/strict-json.js';
import type { Reply } from '../reply/reply.js';
import type { Fault } from './fault.js';

export type Headers = Readonly<Record<string, string>>;

/** How bodies are read. Repeated fields are refused in all dialects. */
export interface BodyRules extends JsonRules {
  /** Of an endpoint that names no limit of its own. */
  readonly maxBytes: number;
  readonly unknownFields: 'refused' | 'ignored';
  /** What no body at all means where one is taken. */
  readonly absent: 'refused' | 'empty-object';
}

/** One rate limit as a call has left it. */
export interface RateWindow {
  readonly limit: number;
  readonly remaining: number;
  /** In whole seconds since 1970. */
  readonly resetsAt: number;
  /** In whole seconds; only of a call that was refused. */
  readonly retryAfter?: number;
}

/**
 * How one service speaks HTTP: which checks it makes in which order, how it reads requests and how it writes refusals. Endpoint
 * tables and the dispatcher are the same for all services; only what stands here differs.
 */
export interface Dialect {
  /** In the order in which they are made; the first that fails answers. */
  readonly checks: readonly Check[];
  /** In lower case. Headers that no caller may send, neither with a request nor behind its body. */
  readonly internalHeaders: readonly string[];
  readonly body: BodyRules;
  readonly unknownParameters: 'refused' | 'ignored';
  /** The header in which a caller may name its request and every reply names it; other ids than `pattern` are replaced. */
  readonly requestId: { readonly header: string; readonly pattern: RegExp };
  /** On every reply that does not say otherwise. */
  readonly replyHeaders: Headers;
  refuse(fault: Fault): Reply;
  /** On every reply to a call that was counted. */
  rateLimitHeaders(window: RateWindow): Headers;
  /** The error code of a refusal, for traces. */
  codeOf(reply: Pick<Reply, 'status' | 'body'>): string | undefined;
}
