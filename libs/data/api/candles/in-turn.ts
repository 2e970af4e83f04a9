/** One part of a reply that is sent in parts. */
export interface OpenedPart {
  /** Reading failed for a reason that is not in the request. */
  readonly hasFailed: boolean;
  /** The first text of the part. */
  readonly text: string;
  /** The remaining texts, read only as fast as the client takes them. */
  readonly rest?: AsyncGenerator<string>;
}

/** Must not reject. */
export type OpenPart = () => Promise<OpenedPart>;

/** Yields the parts in order, and opens up to `ahead` of them in advance. */
export async function* inTurn(parts: Iterable<OpenPart>, ahead: number): AsyncGenerator<OpenedPart> {
  const remaining = parts[Symbol.iterator]();
  const opening: Promise<OpenedPart>[] = [];
  const openNext = (): void => {
    const next = remaining.next();
    if (next.done !== true) opening.push(next.value());
  };
  try {
    for (let count = 0; count < ahead; count += 1) openNext();
    for (let first = opening[0]; first !== undefined; first = opening[0]) {
      yield await first;
      void opening.shift();
      openNext();
    }
  } finally {
    for (const each of opening) await (await each).rest?.return(undefined);
  }
}
