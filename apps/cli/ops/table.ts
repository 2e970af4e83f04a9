import { visible } from '#libs/platform/terminal/visible-text.js';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string | number | undefined;
}

/** Columns as wide as their widest cell. Numbers are aligned right; a missing value is a dash. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const texts = [
    columns.map(({ head }) => head),
    ...cells.map((row) => row.map((cell) => visible(String(cell ?? '-')))),
  ];
  const widths = columns.map((_, at) => Math.max(...texts.map((row) => row[at]?.length ?? 0)));
  const numeric = columns.map((_, at) => cells.some((row) => typeof row[at] === 'number'));
  return texts.map((row) =>
    row
      .map((text, at) =>
        numeric[at] === true ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** To the second: enough to compare with a watch. */
export function shortTime(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 19)}Z`;
}
