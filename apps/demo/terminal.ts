const WIDTH = 96;
const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
type Style = keyof typeof CODES;

/** Prints the demo, in colour if the output is a terminal. */
export class DemoTerminal {
  private scenes = 0;

  constructor(
    private readonly out: (line: string) => void,
    private readonly coloured: boolean,
  ) {}

  title(text: string): void {
    this.line('');
    this.line(this.styled('bold', text));
  }

  /** The heading of the next step. */
  scene(text: string): void {
    this.scenes += 1;
    this.line('');
    this.line(this.styled('cyan', `${this.scenes}. ${text}`));
  }

  /** Prose for readers who see an auction for the first time. */
  say(text: string): void {
    for (const line of wrapped(text, WIDTH - 3)) this.line(`   ${line}`);
  }

  request(who: string, method: string, path: string, body: unknown): void {
    this.line(`   ${this.styled('yellow', `${who} →`)} ${method} ${path}`);
    if (body !== undefined) this.block(body, '       ');
  }

  reply(status: number, shown: unknown): void {
    const style = status < 300 ? 'green' : 'red';
    this.line(`     ${this.styled(style, `← ${status}`)}`);
    if (shown !== undefined) this.block(shown, '       ');
  }

  /** Columns as wide as their widest cell. */
  table(rows: readonly (readonly string[])[]): void {
    const widths = (rows[0] ?? []).map((_, column) =>
      Math.max(...rows.map((row) => row[column]?.length ?? 0)),
    );
    for (const [index, row] of rows.entries()) {
      const text = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
      this.line(`   ${index === 0 ? this.styled('dim', text) : text}`.trimEnd());
    }
  }

  private block(value: unknown, indent: string): void {
    for (const line of wrapped(spaced(value), WIDTH - indent.length)) {
      this.line(this.styled('dim', `${indent}${line}`));
    }
  }

  private styled(style: Style, text: string): string {
    return this.coloured ? `\u001B[${CODES[style]}m${text}\u001B[0m` : text;
  }

  private line(text: string): void {
    this.out(text);
  }
}

/** JSON on one line that can be read and copied: a space after every comma and colon outside strings. */
function spaced(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"(?:[^"\\]|\\.)*"|[,:]/g, (token) =>
    token === ',' || token === ':' ? `${token} ` : token,
  );
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
