import { visible, visibleJson } from '#libs/platform/terminal/visible-text.js';
import type { CommandFault } from './arguments.js';
import type { Clock } from '#libs/platform/time/clock.js';
import type { GatewayClient } from './gateway-client.js';
import type { CommandDeclaration, ParsedCall } from '#libs/platform/terminal/commands.js';

/** Writes lines; the caller leaves out the line end. */
type Write = (text: string) => void;

/** Prints results either as text for people or as JSON for programs. */
export class OpsReport {
  constructor(
    private readonly out: Write,
    private readonly err: Write,
    readonly json: boolean,
    /** Output is a screen that can be cleared. */
    private readonly screen: boolean,
  ) {}

  result(document: object, lines: () => readonly string[]): void {
    this.out(this.textOf(document, lines));
  }

  /** One snapshot after another: on a cleared screen, or below each other in a log. */
  picture(document: object, lines: () => readonly string[]): void {
    const wiped = this.screen && !this.json ? WIPE : '';
    this.out(`${wiped}${this.textOf(document, lines)}`);
  }

  /** Progress for people. Programs wait for the result. */
  progress(line: string): void {
    if (!this.json) this.out(visible(line));
  }

  private textOf(document: object, lines: () => readonly string[]): string {
    return this.json ? visibleJson(document) : lines().map(visible).join('\n');
  }

  /** `hint` says where people find out more. */
  fault({ message, told }: CommandFault, hint = ''): void {
    this.err(this.json ? visibleJson({ ...told, message }) : `ops: ${visible(message)}${hint}`);
  }
}

const WIPE = '\u001B[H\u001B[2J';

export interface OpsPorts {
  readonly gateway: GatewayClient;
  readonly report: OpsReport;
  readonly clock: Clock;
  /** Aborted when the operator stops the command. */
  readonly stop: AbortSignal;
}

export interface OpsCommand extends CommandDeclaration {
  /** Resolves with the exit code. Wrong usage throws UsageFault before any request is sent. */
  run(call: ParsedCall, ports: OpsPorts): Promise<number>;
}
