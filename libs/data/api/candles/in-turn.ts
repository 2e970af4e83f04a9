/** One of several answers that are sent one after the other. */
export interface OpenedPart {
  /** It could not be read, and not because of what was asked. */
  readonly hasFailed: boolean;
  /** What is sent first. */
  readonly text: string;
  /** Read only as the reader takes it. */
  readonly rest?: AsyncGenerator<string>;
}

/** Does not reject. */
export type OpenPart = () => Promise<OpenedPart>;

/** Opens parts in their order, so many ahead of the one that is taken. */
export async function* inTurn(parts: Iterable<OpenPart>, ahead: number): AsyncGenerator<OpenedPart> {
  const left = parts[Symbol.iterator]();
  const opening: Promise<OpenedPart>[] = [];
  const openNext = (): void => {
    const next = left.next();
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
