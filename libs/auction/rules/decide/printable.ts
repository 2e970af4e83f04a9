import { rejected, type Rejection } from '#libs/base/rejection.js';

/** Control, format, private and unassigned characters, half surrogates and line separators print nothing. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

const MAX_REFERENCE_CHARS = 64;
const MAX_REASON_CHARS = 200;

export function checkReference(reference: string | undefined): Rejection | undefined {
  return checkText('client_reference', reference, MAX_REFERENCE_CHARS);
}

export function checkReason(reason: string | undefined): Rejection | undefined {
  return checkText('reason', reason, MAX_REASON_CHARS);
}

/** A character is a code point, so that nobody's script counts double. */
function checkText(field: string, text: string | undefined, max: number): Rejection | undefined {
  return text === undefined || (Array.from(text).length <= max && !UNPRINTABLE.test(text))
    ? undefined
    : rejected('INVALID_TERMS', `${field} has at most ${max} printable characters.`);
}
