import type { Shape } from './shapes.js';

/** The success reply of an endpoint, for the interface documents. */
export interface Answer {
  readonly description: string;
  /** JSON; absent if there is no body. */
  readonly body?: Shape;
  /** The same reply in other media types. Text other than JSON is described as a string. */
  readonly also?: Readonly<Record<string, Shape>>;
  /** Headers besides the common ones, by names in lower case. An endpoint with an `etag` answers `If-None-Match`. */
  readonly headers?: Readonly<Record<string, Shape>>;
}

export type Answers = Readonly<Record<number, Answer>>;
