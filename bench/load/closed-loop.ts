/**
 * Runs callers for this time; each starts a call when its last one ends. Resolves with calls per second.
 * Calls that end after the time are not counted.
 */
export async function closedLoop(
  callers: number,
  seconds: number,
  call: (caller: number) => Promise<void>,
): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  let done = 0;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (;;) {
        await call(caller);
        if (performance.now() >= until) return;
        done += 1;
      }
    }),
  );
  return done / seconds;
}
