/** Runs `work` for every item, at most `most` at a time. Resolves with the results in the order of the items. */
export async function inTurns<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const done = new Map<number, R>();
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) done.set(index, await work(item));
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return [...done].sort(([one], [other]) => one - other).map(([, result]) => result);
}
