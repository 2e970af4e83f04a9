import { z } from 'zod';
import { onStep, ONE, printMicros, type Micros } from '../../rules/micros.js';
import type { OrderSide } from '../../rules/amounts.js';

const DECIMAL = /^(-?)(\d{1,15})(?:\.(\d{1,6})0*)?$/;
const HUNDREDTH = 10_000n;
const PLACES = 6;

/** A fixed-point string of the venue: dollars or a number of contracts. */
export const fixedPoint = z.string().transform((text, context): Micros => {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) {
    context.addIssue({ code: 'custom', message: 'not a fixed-point number' });
    return z.NEVER;
  }
  const value = BigInt(whole) * ONE + BigInt(fraction.padEnd(PLACES, '0'));
  return sign === '-' ? -value : value;
});

export function dollarsText(value: Micros): string {
  return printMicros(value, 4);
}

export function countText(value: Micros): string {
  return printMicros(value, 2);
}

/** The venue trades contracts in hundredths. */
export function wholeCount(quantity: Micros): Micros {
  return onStep(quantity, HUNDREDTH, 'down');
}

export const YES = 'Yes';
export const NO = 'No';

export interface OfOutcome {
  readonly outcome_index: number;
  readonly side: OrderSide;
  /** In dollars of its own outcome. */
  readonly price: Micros;
}

export interface InBook {
  readonly side: 'bid' | 'ask';
  /** In dollars of Yes. */
  readonly price: Micros;
}

/** The venue has one book, for Yes. Buying No at a price is selling Yes at one dollar less that price. */
export function inBook({ outcome_index: index, side, price }: OfOutcome): InBook {
  if (index === 0) return { side: side === 'buy' ? 'bid' : 'ask', price };
  return { side: side === 'buy' ? 'ask' : 'bid', price: ONE - price };
}

/** Converts a price of the Yes book to the price of an outcome. */
export function ownPrice(outcome_index: number, yesPrice: Micros): Micros {
  return outcome_index === 0 ? yesPrice : ONE - yesPrice;
}

export function outcomeLabel(outcome_index: number): string {
  return outcome_index === 0 ? YES : NO;
}
