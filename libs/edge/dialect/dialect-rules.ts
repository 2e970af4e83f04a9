import type { JsonRules } from '../decoding/strict-json.js';

/** How bodies are read. All dialects refuse repeated fields. */
export interface BodyRules extends JsonRules {
  /** For endpoints without their own limit. */
  readonly maxBytes: number;
  readonly unknownFields: 'refused' | 'ignored';
  /** The meaning of a missing body. */
  readonly absent: 'refused' | 'empty-object';
}

/** The rules that a dialect gives to the checks. */
export interface DialectRules {
  /** Headers that no caller may send, also not as trailers. In lower case. */
  readonly internalHeaders: readonly string[];
  readonly body: BodyRules;
  readonly unknownParameters: 'refused' | 'ignored';
  /** Percent-encoded characters in paths are decoded. Without this every path has one spelling. */
  readonly decodesPaths?: true;
}

/** The state of one rate limit after a call. */
export interface RateWindow {
  readonly limit: number;
  readonly remaining: number;
  /** In whole seconds since 1970. */
  readonly resetsAt: number;
  /** In whole seconds; only for a refused call. */
  readonly retryAfter?: number;
}
