/** Characters that a terminal obeys instead of showing: controls, line separators, and changes of text direction. */
const ACTS = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;
/** The same among the characters that JSON does not escape. */
const LEFT_BY_JSON = /[\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;
const HEX = 16;
const JSON_DIGITS = 4;

/**
 * A line, or a field of one, for people: text from others may be anything, and must neither hide nor forge its neighbours.
 */
export function visible(text: string): string {
  return text.replace(ACTS, (character) => `\\u{${hexOf(character)}}`);
}

/** The same in JSON, which people read too. The value stays the same. */
export function visibleJson(document: object): string {
  return JSON.stringify(document).replace(
    LEFT_BY_JSON,
    (character) => `\\u${hexOf(character).padStart(JSON_DIGITS, '0')}`,
  );
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(HEX);
}

/** Text as one word of a shell, so that a printed command can be pasted. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
