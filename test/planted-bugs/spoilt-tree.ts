import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlantedBug } from './planted-bug.js';
import { compiled, spoilt, type Sources } from './planting.js';

const PRODUCT = ['apps', 'libs'];
/** What programs need next to the compiled tree. */
const BESIDE = ['package.json', 'deploy', 'docs'];

/** A compiled tree that runs like the original and can be changed. */
export class SpoiltTree {
  readonly folder = mkdtempSync(join(tmpdir(), 'sotto-planted-'));

  constructor(private readonly root: string) {
    for (const name of ['dist', ...BESIDE])
      cpSync(join(root, name), join(this.folder, name), { recursive: true });
    // Nothing may be compiled again there: that would undo the mistake.
    mkdirSync(join(this.folder, 'tools'));
    writeFileSync(join(this.folder, 'tools/start.mjs'), "await import('../dist/apps/launcher/main.js');\n");
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Compiles the bug over the original files; returns a function that undoes it. */
  plant(bug: PlantedBug): () => void {
    const sound = spoilt(bug, sourcesIn(this.root)).map((file) => {
      const target = join(this.folder, 'dist', file.path.replace(/\.ts$/, '.js'));
      const before = readFileSync(target);
      writeFileSync(target, compiled(file, this.root));
      return { target, before };
    });
    return () => {
      for (const { target, before } of sound) writeFileSync(target, before);
    };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function sourcesIn(root: string): Sources {
  return {
    read: (path) => {
      try {
        return readFileSync(join(root, path), 'utf8');
      } catch {
        return undefined;
      }
    },
    paths: () =>
      PRODUCT.flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
          join(folder, path),
        ),
      ).filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts')),
  };
}
