import type { Shape } from './shapes.js';

/** What an endpoint answers when it does not refuse, for the interface documents. */
export interface Answer {
  readonly description: string;
  /** JSON; absent where there is no body. */
  readonly body?: Shape;
  /** The same in other media types; text that is no JSON is described as a string. */
  readonly also?: Readonly<Record<string, Shape>>;
  /** Headers besides those of every answer, by their names in lower case. With an `etag` the endpoint answers `If-None-Match`. */
  readonly headers?: Readonly<Record<string, Shape>>;
}

export type Answers = Readonly<Record<number, Answer>>;
