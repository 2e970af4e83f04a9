import type { Decoder, JsonSchema } from '#libs/edge/decoding/decode.js';
import type { JsonRecord } from '#libs/edge/decoding/strict-json.js';
import type { Shape } from '#libs/edge/documents/shapes.js';
import type { IdKind } from '#libs/edge/endpoint.js';
import { isUuidText } from './params.js';

/** A body whose fields the handler reads itself, in its own order. The schemas are only for the interface document. */
export function openBody(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): Decoder<JsonRecord> {
  return {
    decode: (value) => (isRecord(value) ? value : {}),
    describe: () => ({
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    }),
  };
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null;
}

export const TEXT: JsonSchema = { type: 'string' };
export const UUID: JsonSchema = { type: 'string', format: 'uuid' };
export const TIME: JsonSchema = { type: 'string', format: 'date-time' };
export const NUMBER: JsonSchema = { type: 'number' };
export const WHOLE: JsonSchema = { type: 'integer' };
export const FLAG: JsonSchema = { type: 'boolean' };

export const decimalText: Shape = {
  describe: () => ({ type: 'string', pattern: String.raw`^-?\d+(\.\d+)?$` }),
};
export const moment: Shape = { describe: () => TIME };
export const uuidText: Shape = { describe: () => UUID };
export const numberShape: Shape = { describe: () => NUMBER };
export const wholeShape: Shape = { describe: () => WHOLE };
export const flagShape: Shape = { describe: () => FLAG };
/** A UUID in upper or lower case. */
export const orderId: IdKind = {
  fault: 'VALIDATION_INVALID_ID',
  accepts: isUuidText,
  describe: () => UUID,
};
/** Any text. The handler checks whether the exchange exists, since an unknown one has its own answer. */
export const exchangeId: IdKind = {
  fault: 'VALIDATION_INVALID_PARAMETER',
  accepts: () => true,
  describe: () => TEXT,
};
