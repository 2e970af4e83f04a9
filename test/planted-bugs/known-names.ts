import { join } from 'node:path';
import ts from 'typescript';
import type { Spoilt } from './planting.js';

/** Unknown property or name, the same with a suggestion, and a missing export of a module. */
const UNKNOWN = new Set([2304, 2305, 2339, 2551, 2552]);

/**
 * The types of the whole tree, with one mistake at a time. The build ignores types, so a mistake that names
 * something removed would just throw, and any test would find it.
 */
export class KnownNames {
  private readonly spoilt = new Map<string, string>();
  private round = 0;
  private readonly service: ts.LanguageService;

  constructor(private readonly root: string) {
    const read = (path: string): string | undefined => this.spoilt.get(path) ?? ts.sys.readFile(path);
    const file = ts.readJsonConfigFile(join(root, 'tsconfig.json'), read);
    const { fileNames, options } = ts.parseJsonSourceFileConfigFileContent(file, ts.sys, root);
    this.service = ts.createLanguageService({
      getScriptFileNames: () => fileNames.filter((path) => !path.endsWith('.spec.ts')),
      getScriptVersion: (path) => (this.spoilt.has(path) ? String(this.round) : '0'),
      getScriptSnapshot: (path) => {
        const text = read(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => root,
      getCompilationSettings: () => options,
      getDefaultLibFileName: (of) => ts.getDefaultLibFilePath(of),
      ...{ fileExists: (path) => ts.sys.fileExists(path), readFile: read },
    });
  }

  /** Fails with the first name that does not exist any more. */
  mustKnow(files: readonly Spoilt[]): void {
    this.round += 1;
    this.spoilt.clear();
    for (const { path, text } of files) this.spoilt.set(join(this.root, path), text);
    for (const { path } of files) {
      const [fault] = this.service
        .getSemanticDiagnostics(join(this.root, path))
        .filter(({ code }) => UNKNOWN.has(code));
      if (fault !== undefined)
        throw new Error(`${path}: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`);
    }
  }
}
