import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run replay -- <bundle.json> [--key <file>] [--output json]

Recomputes a completed auction offline from its replay bundle: winners, ranking and every reason, by the rules
alone. Names the altered record if there is one.

  --key file      the service's public key: the key set of /.well-known/audit-keys.json, or a PEM file.
                  Without it the bundle is checked against the key that it names itself, and its
                  origin is not verified
  --output json   one JSON document instead of text
  --help          this text

Exit code: 0 correct; 1 not correct; 64 wrong usage; 66 a file cannot be read; 69 standard
output cannot be written.`;

export interface ReplayCall {
  readonly bundle: string;
  readonly key: string | undefined;
  readonly json: boolean;
}

/** The parsed call, a usage fault, or `help`. */
export function callOf(args: readonly string[]): ReplayCall | { readonly fault: string } | 'help' {
  try {
    const { values, positionals, tokens } = parseArgs({
      tokens: true,
      args: [...args],
      allowPositionals: true,
      options: {
        key: { type: 'string' },
        output: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) return { fault: `--${twice} is given twice` };
    if (values.help === true) return 'help';
    const [bundle, ...more] = positionals;
    if (bundle === undefined || more.length > 0) return { fault: 'expected the file of one bundle' };
    if (values.output !== undefined && values.output !== 'json')
      return { fault: 'the only other output is json' };
    return { bundle, key: values.key, json: values.output === 'json' };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
