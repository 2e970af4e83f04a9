/** Whose sessions may be ended. */
export const LEAVER = 'originator-1';
/** A maker that has no quotes. */
export const NEWCOMER = 'maker-2';
/** By which names values are known that are taken away from nobody, or are over. */
export const SPARE = 'spare auction';
export function cursorOf(operationId: string): string {
  return `cursor of ${operationId}`;
}
export const ENDED = 'auction that is over';
