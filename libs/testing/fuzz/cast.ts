/** Whose sessions may be ended. */
export const LEAVER = 'originator-1';
/** A maker that has no quotes. */
export const NEWCOMER = 'maker-2';
/** Whose stream can be resumed. */
export const RESUMER = 'maker-1';
/** By which names values are known that are taken away from nobody, or are over. */
export const SPARE = 'spare auction';
export const ENDED = 'auction that is over';

/** The same of a cursor that leads behind the first row of an operation's list. */
export function cursorOf(operationId: string): string {
  return `cursor of ${operationId}`;
}
