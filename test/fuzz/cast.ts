/** Whose sessions may be ended. */
export const LEAVER = 'originator-1';
/** A maker that has no quotes. */
export const NEWCOMER = 'maker-2';
/** Whose stream can be resumed, and whose the quotes are that are named. */
export const QUOTER = 'maker-1';
const ORIGINATOR = 'originator-2';
/** What nobody else may do to what is named: operations and messages. */
export const OWNERS: ReadonlyMap<string, string> = new Map([
  ['reviseQuote', QUOTER],
  ['withdrawQuote', QUOTER],
  ['cancelAuction', ORIGINATOR],
  ['replaceGroup', ORIGINATOR],
  ['removeGroup', ORIGINATOR],
  ['quote.revise', QUOTER],
  ['quote.withdraw', QUOTER],
  ['auction.cancel', ORIGINATOR],
]);
/** By which names values are known that are taken away from nobody, or are over. */
export const SPARE = 'spare auction';
export const ENDED = 'auction that is over';

/** The same of a cursor that leads behind the first row of an operation's list. */
export function cursorOf(operationId: string): string {
  return `cursor of ${operationId}`;
}
