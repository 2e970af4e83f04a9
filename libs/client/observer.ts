/** One call over HTTP, as both sides saw it. */
export interface ObservedExchange {
  readonly method: string;
  /** With its query, as it was sent. */
  readonly path: string;
  /** By names in lower case. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Direction = 'client' | 'server';

/** Sees what all clients of this process say and hear. Tests hold the documents against it. */
export interface Observer {
  exchange(exchange: ObservedExchange): void;
  frame(direction: Direction, text: string): void;
  /** The other side closed a stream with this code. */
  closed(code: number): void;
}

/** Undefined while no one observes, so that a client then builds no records either. */
export const observed: { by: Observer | undefined } = { by: undefined };
