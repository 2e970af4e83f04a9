/** How many steps are put on the real event loop at a time. */
const AT_ONCE = 64;

const { setImmediate: realImmediate } = globalThis;

/**
 * Takes one step after another, each in a turn of the real event loop of its own: by the next one every promise that could go on
 * has gone on. Resolves when `step` says that there is nothing more to do.
 */
export function drive(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const take = (): void => {
      if (isOver) return;
      try {
        if (step()) return;
        isOver = true;
        resolve();
      } catch (error) {
        isOver = true;
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const fill = (): void => {
      if (isOver) return;
      for (let left = AT_ONCE; left > 0; left -= 1) realImmediate(take);
      realImmediate(fill);
    };
    fill();
  });
}

/** When every promise that could go on has gone on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    realImmediate(resolve);
  });
}
