import { mention } from './standard-error.js';
import { asStartFault } from '../process/start-fault.js';
import { visible, visibleJson } from './visible-text.js';

/** Also of arguments that mean nothing: a fault in them is told as they seem to want it. */
export function wantsJson(args: readonly string[]): boolean {
  return args.some((arg) => arg === 'json' || arg === '--output=json');
}

export interface ToolFault {
  readonly message: string;
  /** Where there are several, each in a line of its own. */
  readonly faults?: readonly string[];
  /** Where people find out more. */
  readonly hint?: string;
  /** What programs are told beside the message. */
  readonly told?: object;
}

/** On standard error, where also lines about the work under way stand: the fault is the last, for programs a document as results are. */
export function tellFault(
  tool: string,
  args: readonly string[],
  { message, faults = [message], hint = '', told }: ToolFault,
): void {
  if (wantsJson(args)) mention(visibleJson({ ...told, message }));
  else mention(`${tool}: ${faults.map(visible).join('\n')}${hint}`);
}

/** For programs in which little can go wrong that the operator can mend. Resolves with the exit code. */
export async function codeOf(tool: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const fault = asStartFault(error);
    if (fault === undefined) throw error;
    tellFault(tool, [], fault);
    return fault.exitCode;
  }
}
