import { requiredInstant, utcText } from '../timestamps.js';
import type { Halt } from './policy-snapshot.js';

export type HaltRow = Omit<Halt, 'target'> & { readonly target: string | null };

export const HALT_COLUMNS = `halt_id, scope, target, what, reason, created_by as "by",
  ${utcText('created_at')} as created_at`;

export function haltOfRow({ target, ...row }: HaltRow): Halt {
  return { ...row, created_at: requiredInstant(row.created_at), ...(target === null ? {} : { target }) };
}
