import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';

const OLD = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.19.0'}})`;

it.each([
  ['npm start', ['tools/start.mjs']],
  ['npm run', ['tools/run.mjs', 'apps/cli/main.js', 'journal']],
])('%s says in one line which Node it needs, and does nothing on an older one', (_, args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', OLD, ...args], {
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([78, '']);
  expect(stderr).toMatch(/^sotto: Node 22\.12 or newer is needed, this is 20\.19\.0: .*\n$/);
});
