import { readFileSync } from 'node:fs';
import { callOf, USAGE } from './call.js';
import { parsePlainJson } from './plain-json.js';
import { complain, OutputLost, print } from './print.js';
import { publicKeysIn } from './public-keys.js';
import { judge } from './verdict.js';
import { plain, verdictJson, verdictText } from './verdict-text.js';

const EXIT = { ok: 0, mismatch: 1, usage: 64, unreadable: 66, unwritten: 69 } as const;

function main(args: readonly string[]): number {
  const call = callOf(args);
  if (call === 'help') {
    print(USAGE);
    return EXIT.ok;
  }
  if ('fault' in call) {
    complain(`${call.fault}\n\n${USAGE}`);
    return EXIT.usage;
  }
  const bundle = read(call.bundle, parsePlainJson);
  const keys = call.key === undefined ? undefined : read(call.key, publicKeysIn);
  if (bundle === undefined || (call.key !== undefined && keys === undefined)) return EXIT.unreadable;
  const verdict = judge(bundle.content, keys?.content);
  print(call.json ? verdictJson(verdict) : verdictText(verdict));
  return verdict.ok ? EXIT.ok : EXIT.mismatch;
}

/** Reports a file that cannot be read on standard error. */
function read<T>(path: string, parse: (text: string) => T): { readonly content: T } | undefined {
  try {
    return { content: parse(readFileSync(path, 'utf8')) };
  } catch (error) {
    complain(plain(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`));
    return undefined;
  }
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof OutputLost)) throw error;
  complain(`replay: ${error.message}`);
  process.exitCode = EXIT.unwritten;
}
