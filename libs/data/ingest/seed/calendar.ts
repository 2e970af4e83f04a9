import { MICROS_PER_SECOND } from '../../rules/times.js';

export const MINUTE = 60 * MICROS_PER_SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const MICROS_PER_MILLI = 1_000;

function dateOf(micros: number): Date {
  return new Date(micros / MICROS_PER_MILLI);
}

/** The start of the month that is `months` after the month of the given time. */
export function monthAfter(micros: number, months: number): number {
  const date = dateOf(micros);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, 1) * MICROS_PER_MILLI;
}

export function yearOf(micros: number): number {
  return dateOf(micros).getUTCFullYear();
}

export function startOfYear(year: number): number {
  return Date.UTC(year, 0, 1) * MICROS_PER_MILLI;
}

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September'],
  ...['October', 'November', 'December'],
];

export function monthName(micros: number): string {
  return MONTHS[dateOf(micros).getUTCMonth()] ?? '';
}

/** `December 31, 2026` */
export function longDate(micros: number): string {
  return `${monthName(micros)} ${String(dateOf(micros).getUTCDate())}, ${String(yearOf(micros))}`;
}

/** `31 Dec 2026` */
export function shortDate(micros: number): string {
  return `${String(dateOf(micros).getUTCDate())} ${monthName(micros).slice(0, 3)} ${String(yearOf(micros))}`;
}

/** `26DEC31` */
export function tickerDate(micros: number): string {
  const day = String(dateOf(micros).getUTCDate()).padStart(2, '0');
  return `${String(yearOf(micros)).slice(-2)}${monthName(micros).slice(0, 3).toUpperCase()}${day}`;
}

/** `18:15` */
export function timeOfDay(micros: number): string {
  return dateOf(micros).toISOString().slice(11, 16);
}

/** `2026-12-31` */
export function plainDate(micros: number): string {
  return dateOf(micros).toISOString().slice(0, 10);
}
