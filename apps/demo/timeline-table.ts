import type { TimelineEntryJson, TimelinePage } from '#libs/client/wire.js';

/** A timeline as a table: one row per entry, times in seconds since the auction opened. */
export function timelineTable({ events }: TimelinePage): string[][] {
  const start = Date.parse(events[0]?.occurred_at ?? '');
  const rows = events.map((entry) => [
    String(entry.seq),
    `+${((Date.parse(entry.occurred_at) - start) / 1_000).toFixed(3)} s`,
    entry.kind,
    entry.actor,
    detail(entry),
  ]);
  return [['seq', 'when', 'kind', 'actor', 'details'], ...rows];
}

function detail({ data }: TimelineEntryJson): string {
  const quote = recordIn(data, 'quote');
  if (quote !== undefined) {
    return `revision ${text(quote.revision)}: ${text(quote.quantity_atoms)} at ${text(quote.price_atoms)}`;
  }
  const award = recordIn(data, 'award');
  if (award !== undefined)
    return `${text(award.quantity_atoms)} at ${text(award.average_price_atoms)} on average`;
  if ('auction' in data) return 'the terms, as this viewer may see them';
  const shown = Object.entries(data).filter(([name]) => !name.endsWith('_id'));
  return shown.map(([name, value]) => `${name} ${text(value)}`).join(', ');
}

function recordIn(data: TimelineEntryJson['data'], name: string): Record<string, unknown> | undefined {
  const value = data[name];
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
