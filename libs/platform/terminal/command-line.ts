import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Two values of one option are ambiguous, and Node would silently take the last. */
export class RepeatedOption extends Error {
  override readonly name = 'RepeatedOption';
  readonly code = 'REPEATED_OPTION';

  constructor(option: string) {
    super(`--${option} is given twice`);
  }
}

/** As `parseArgs` reads them, but each option once, unless it may stand several times. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const parsed = parseArgs<T>(config);
  const { tokens = [] } = parseArgs({ ...config, tokens: true });
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option' || config.options?.[token.name]?.multiple === true) continue;
    if (seen.has(token.name)) throw new RepeatedOption(token.name);
    seen.add(token.name);
  }
  return parsed;
}
