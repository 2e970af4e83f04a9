/** How many steps are queued on the real event loop at a time. */
const AT_ONCE = 64;

const { setImmediate: realImmediate } = globalThis;

/**
 * Runs each step in its own turn of the real event loop, so every promise that can continue has continued
 * before the next step. Resolves when `step` returns false.
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

/** Resolves when every promise that can continue has continued. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    realImmediate(resolve);
  });
}
