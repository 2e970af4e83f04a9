const RFC_3339_UTC = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?Z$/;
const SECONDS_END = 19;
const FRACTION_DIGITS = 9;
const MAX_LENGTH = SECONDS_END + 1 + FRACTION_DIGITS + 1;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Normalizes to exactly nine fraction digits. Undefined for anything but a real date and time in UTC. Second 60 is refused,
 * because the server's clock has no leap seconds.
 */
export function normalInstant(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const parts = RFC_3339_UTC.exec(text);
  if (parts === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(Number);
  if (day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return `${text.slice(0, SECONDS_END)}.${(parts[7] ?? '').padEnd(FRACTION_DIGITS, '0')}Z`;
}

/** Zero for a month that does not exist. */
function daysIn(year: number, month: number): number {
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return (DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
}
