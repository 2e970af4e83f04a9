/** What a terminal acts on instead of showing it: controls, separators of lines, and what turns the direction of the text around it. */
const ACTS = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;
/** Of what JSON leaves as it is. */
const LEFT_BY_JSON = /[\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;
const HEX = 16;
const JSON_DIGITS = 4;

/**
 * A line, or a field of one, for people: what others have written may be anything, and must neither hide nor forge what stands beside it.
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

/** Text as one word of a shell, so that a command can be pasted as it is printed. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
