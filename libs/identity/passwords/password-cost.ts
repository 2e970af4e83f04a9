import * as crypto from 'node:crypto';

/** 2^logN blocks of 128 * r bytes, p times. */
export interface ScryptCost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** KiB of memory, passes, and lanes. */
export interface Argon2Cost {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

export type PasswordCost = ScryptCost | Argon2Cost;

/** OWASP's first recommendation, 19 MiB and two passes. Of its equally strong settings the fastest for two logins at once. */
export const ARGON2: Argon2Cost = { memoryKib: 19_456, passes: 2, lanes: 1 };
/** OWASP's equally strong setting for scrypt. It takes four times as long. */
export const SCRYPT: ScryptCost = { logN: 14, r: 8, p: 5 };

/** Node has Argon2 since 24.7. The version shipped with this product is newer. */
export const PRODUCTION_COST: PasswordCost = 'argon2' in crypto ? ARGON2 : SCRYPT;

/** Bounds the memory that a damaged or forged row could make a gateway allocate. */
const MAX_LOG_N = 18;
const MAX_R = 16;
const MAX_P = 16;
const MAX_MEMORY_KIB = 262_144;
const MAX_PASSES = 16;

export function isSane(cost: PasswordCost): boolean {
  if ('logN' in cost) {
    return isWithin(cost.logN, 1, MAX_LOG_N) && isWithin(cost.r, 1, MAX_R) && isWithin(cost.p, 1, MAX_P);
  }
  const { memoryKib, passes, lanes } = cost;
  return (
    isWithin(memoryKib, 8 * lanes, MAX_MEMORY_KIB) &&
    isWithin(passes, 1, MAX_PASSES) &&
    isWithin(lanes, 1, MAX_P)
  );
}

/** False for NaN. */
function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}
