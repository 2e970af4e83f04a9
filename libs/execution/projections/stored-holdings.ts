import { fromWire } from '../protocol/wire.js';
import { emptyHoldings, type Holdings } from '../rules/holdings.js';
import { storedText } from './stored-order.js';

const PARTS = {
  link: 'links',
  cash: 'cash',
  position: 'positions',
  transfer: 'transfers',
  difference: 'differences',
} as const satisfies Readonly<Record<string, keyof Holdings>>;

export type HoldingPart = keyof typeof PARTS;

/** One part of a user's holdings. Without a state it was removed. */
export interface HoldingRow {
  readonly part: HoldingPart;
  readonly key: string;
  readonly state: string | undefined;
}

/** The parts that changed. Compared by identity, because folds keep unchanged objects. */
export function changedHoldings(before: Holdings, after: Holdings): HoldingRow[] {
  return partNames().flatMap((part) => {
    const [old, now]: readonly ReadonlyMap<string, object>[] = [before[PARTS[part]], after[PARTS[part]]];
    if (old === undefined || now === undefined || old === now) return [];
    const put = [...now].filter(([key, value]) => old.get(key) !== value);
    const gone = [...old.keys()].filter((key) => !now.has(key));
    return [
      ...put.map(([key, value]) => ({ part, key, state: storedText(value) })),
      ...gone.map((key) => ({ part, key, state: undefined })),
    ];
  });
}

/** Holdings built from their rows, in any order. */
export function readHoldings(
  rows: readonly { readonly part: string; readonly key: string; readonly state: string }[],
): Holdings {
  const parts = new Map(partNames().map((part) => [part as string, new Map<string, unknown>()]));
  for (const { part, key, state } of rows) parts.get(part)?.set(key, fromWire(state));
  const read = Object.fromEntries(partNames().map((part) => [PARTS[part], parts.get(part)]));
  const holdings = { ...emptyHoldings, ...read };
  return holdings;
}

function partNames(): HoldingPart[] {
  return ['link', 'cash', 'position', 'transfer', 'difference'];
}
