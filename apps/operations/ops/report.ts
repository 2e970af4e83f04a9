import type { CommandFault } from './faults.js';

type Write = (text: string) => void;

/** Where results go: as text for people or as JSON for programs, never both. */
export class Report {
  constructor(
    private readonly out: Write,
    private readonly err: Write,
    readonly json: boolean,
    /** Somebody looks at a screen that can be wiped. */
    private readonly screen: boolean,
  ) {}

  result(document: object, lines: () => readonly string[]): void {
    this.out(this.json ? `${JSON.stringify(document)}\n` : `${lines().join('\n')}\n`);
  }

  /** One picture after another: a wiped screen, or in a log one behind the other. */
  picture(document: object, lines: () => readonly string[]): void {
    if (this.screen && !this.json) this.out(WIPE);
    this.result(document, lines);
  }

  /** What happens meanwhile; programs wait for the result. */
  progress(line: string): void {
    if (!this.json) this.out(`${line}\n`);
  }

  fault({ message, told }: CommandFault): void {
    this.err(this.json ? `${JSON.stringify({ ...told, message })}\n` : `ops: ${message}\n`);
  }
}

const WIPE = '\u001B[H\u001B[2J';
