import type { JsonRules } from '../decoding/strict-json.js';

/** How bodies are read. Repeated fields are refused in all dialects. */
export interface BodyRules extends JsonRules {
  /** Of an endpoint that names no limit of its own. */
  readonly maxBytes: number;
  readonly unknownFields: 'refused' | 'ignored';
  /** What no body at all means where one is taken. */
  readonly absent: 'refused' | 'empty-object';
}

/** What a dialect tells the checks. */
export interface DialectRules {
  /** In lower case. Headers that no caller may send, neither with a request nor after its body. */
  readonly internalHeaders: readonly string[];
  readonly body: BodyRules;
  readonly unknownParameters: 'refused' | 'ignored';
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
