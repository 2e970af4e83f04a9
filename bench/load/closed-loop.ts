/**
 * So many callers, each with one call under way and the next behind it, for so long. Resolves with the calls a second; what began
 * before the end and was answered after it counts for nothing.
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
