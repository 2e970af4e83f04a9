import { mention } from './standard-error.js';
import { asStartFault } from '../process/start-fault.js';
import { visible, visibleJson } from './visible-text.js';

/** Also for invalid arguments: a fault in them is reported in the form that they seem to request. */
export function wantsJson(args: readonly string[]): boolean {
  return args.some((arg) => arg === 'json' || arg === '--output=json');
}

export interface ToolFault {
  readonly message: string;
  /** Several faults, one line each. */
  readonly faults?: readonly string[];
  /** Where to read more. */
  readonly hint?: string;
  /** Fields for programs beside the message. */
  readonly told?: object;
}

/** On standard error, after lines about the work: the fault is the last, and for programs it is a document like results. */
export function tellFault(
  tool: string,
  args: readonly string[],
  { message, faults = [message], hint = '', told }: ToolFault,
): void {
  if (wantsJson(args)) mention(visibleJson({ ...told, message }));
  else mention(`${tool}: ${faults.map(visible).join('\n')}${hint}`);
}

/** For programs with few faults that the operator can mend. Resolves with the exit code. */
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
