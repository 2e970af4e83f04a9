/** Characters that control a terminal: control characters, line separators, and changes of text direction. */
const CONTROLS = /[\p{Cc}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;
/** Those of them that JSON does not escape. */
const UNESCAPED_BY_JSON = /[\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;
const HEX = 16;
const JSON_DIGITS = 4;

/**
 * Escapes control characters of a text for people. Text from others must not be able to hide or forge what is printed next to it.
 */
export function visible(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u{${hexOf(character)}}`);
}

/** Escapes them in JSON, which people read too. The value does not change. */
export function visibleJson(document: object): string {
  return JSON.stringify(document).replace(
    UNESCAPED_BY_JSON,
    (character) => `\\u${hexOf(character).padStart(JSON_DIGITS, '0')}`,
  );
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(HEX);
}

/** Quotes text as one shell word, so that a printed command can be pasted. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
