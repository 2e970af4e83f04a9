import { isUuid, uuid } from './decoding/decode-scalars.js';
import type { IdKind } from './endpoint.js';

export function anyUuid(fault: string): IdKind {
  return { fault, accepts: isUuid, describe: () => uuid.describe() };
}
