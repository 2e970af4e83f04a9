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

/** One part of what a user holds. Without a state it is there no longer. */
export interface HoldingRow {
  readonly part: HoldingPart;
  readonly key: string;
  readonly state: string | undefined;
}

/** What differs. Folds keep what they do not change as the same objects. */
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

/** The holdings that these rows are made of, in whatever order they come. */
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
