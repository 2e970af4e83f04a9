const MILLIS_PER_SECOND = 1_000;

/** One call after the other for so long. Resolves with what one takes, in milliseconds. */
export async function millisOfOne(seconds: number, call: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  const until = begun + seconds * MILLIS_PER_SECOND;
  let done = 0;
  while (performance.now() < until || done === 0) {
    await call();
    done += 1;
  }
  return (performance.now() - begun) / done;
}
