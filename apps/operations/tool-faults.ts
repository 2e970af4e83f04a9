/** Also of arguments that mean nothing: a fault in them is told as they seem to want it. */
export function wantsJson(args: readonly string[]): boolean {
  return args.some((arg) => arg === 'json' || arg === '--output=json');
}

export interface ToolFault {
  readonly message: string;
  /** For people who have called the tool wrongly. */
  readonly help?: string;
}

/** On standard error, where also lines about the work under way stand: the fault is the last, for programs a document as results are. */
export function tellFault(tool: string, args: readonly string[], { message, help }: ToolFault): void {
  if (wantsJson(args)) console.error(JSON.stringify({ message }));
  else console.error(`${tool}: ${message}${help === undefined ? '' : `\n\n${help}`}`);
}
