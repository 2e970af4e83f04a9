const MILLIS_PER_SECOND = 1_000;

/** Makes calls one after another for this time. Resolves with milliseconds per call. */
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
