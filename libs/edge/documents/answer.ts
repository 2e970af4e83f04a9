import type { Shape } from './shapes.js';

/** The success reply of an endpoint, for the interface documents. */
export interface Answer {
  readonly description: string;
  /** JSON; absent if there is no body. */
  readonly body?: Shape;
  /** The same in other media types; non-JSON text is described as a string. */
  readonly also?: Readonly<Record<string, Shape>>;
  /** Headers besides those of every answer, by their names in lower case. With an `etag` the endpoint answers `If-None-Match`. */
  readonly headers?: Readonly<Record<string, Shape>>;
}

export type Answers = Readonly<Record<number, Answer>>;
