import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ToolOutcome, ROOT, runTool } from './tool.js';

const SETTINGS = ['.swcrc', 'nest-cli.json', 'package.json', 'package-lock.json', 'tools', 'tsconfig.json'];

const SOURCES: Readonly<Record<string, string>> = {
  'libs/wheel/wheel.ts': 'export class Wheel {}\n',
  'libs/wheel/wheel.spec.ts': 'export {};\n',
  'libs/wheel/axle.ts': 'export class Axle {}\n',
  'apps/car/main.ts': [
    "import 'reflect-metadata';",
    "import { Wheel } from '#libs/wheel/wheel.js';",
    'const part: ClassDecorator = () => undefined;',
    '@part',
    'export class Car {',
    '  constructor(readonly wheel: Wheel) {}',
    '}',
    "const parts = Reflect.getMetadata('design:paramtypes', Car) as { name: string }[];",
    'console.log(parts.map(({ name }) => name).join(), process.argv.slice(2).join());',
  ].join('\n'),
};

/** The steps build on one another, as the edits of a working day do. */
describe('the build', () => {
  let tree: string;

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }

  const build = (...args: string[]): Promise<ToolOutcome> =>
    runTool(join(tree, 'tools/build.mjs'), args, tree);
  const inDist = (path: string): string => join(tree, 'dist', path);

  beforeAll(async () => {
    tree = mkdtempSync(join(tmpdir(), 'build-'));
    for (const path of SETTINGS) cpSync(join(ROOT, path), join(tree, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    for (const [path, text] of Object.entries(SOURCES)) write(path, text);
    expect(await build('--if-stale')).toMatchObject({ exitCode: 0, stderr: '' });
  }, 60_000);

  afterAll(() => {
    rmSync(tree, { recursive: true });
  });

  it('mirrors the tree and leaves the tests out', () => {
    expect(existsSync(inDist('libs/wheel/wheel.js'))).toBe(true);
    expect(existsSync(inDist('apps/car/main.js'))).toBe(true);
    expect(existsSync(inDist('libs/wheel/wheel.spec.js'))).toBe(false);
  });

  it('emits decorator metadata, and subpath imports that run', async () => {
    const { stdout, stderr } = await runTool(
      join(tree, 'tools/run.mjs'),
      ['apps/car/main.js', 'one', 'two'],
      tree,
    );
    expect(stderr).toBe('');
    expect(stdout).toBe('Wheel one,two\n');
  }, 30_000);

  it('does nothing when dist is fresh, and touches only what changed', async () => {
    const before = statSync(inDist('libs/wheel/axle.js')).ino;
    const stampedAt = statSync(inDist('.build-stamp')).mtimeMs;
    await build('--if-stale');
    expect(statSync(inDist('.build-stamp')).mtimeMs).toBe(stampedAt);

    write('libs/wheel/wheel.ts', 'export class Wheel {}\nexport const SPOKES = 32;\n');
    await build('--if-stale');
    expect(readFileSync(inDist('libs/wheel/wheel.js'), 'utf8')).toContain('SPOKES');
    expect(statSync(inDist('libs/wheel/axle.js')).ino).toBe(before);
  }, 30_000);

  it('removes what has no source any more', async () => {
    rmSync(join(tree, 'libs/wheel/axle.ts'));
    await build('--if-stale');
    expect(existsSync(inDist('libs/wheel/axle.js'))).toBe(false);
    expect(existsSync(inDist('libs/wheel/wheel.js'))).toBe(true);
  }, 30_000);

  it('says what is wrong, keeps the last good files and counts as stale', async () => {
    write('libs/wheel/wheel.ts', 'export class {\n');
    const broken = await build('--if-stale');
    expect(broken.exitCode).toBe(1);
    expect(broken.stderr).toContain('wheel.ts');
    expect(readFileSync(inDist('libs/wheel/wheel.js'), 'utf8')).toContain('SPOKES');
    expect((await build('--if-stale')).exitCode).toBe(1);
  }, 30_000);
});
