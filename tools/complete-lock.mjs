/**
 * Run after `npm install` if the registry lacks binaries of some platforms: npm then leaves these optional
 * packages out of the lock, and `npm ci` refuses it everywhere. Enters them again, with version and platform
 * only.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ROOT } from './build/tree.mjs';

const SYSTEMS = 'aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32';
const PROCESSORS = 'arm64|arm|ia32|loong64|mips64el|ppc64|riscv64|s390x|x64';
const PLATFORM = new RegExp(`-(?<os>${SYSTEMS})-(?<cpu>${PROCESSORS})(?:-(?<abi>[a-z]+))?$`);

function entryFor(name, version, parent) {
  const platform = PLATFORM.exec(name)?.groups;
  if (platform === undefined) return undefined;
  const libc = { gnu: ['glibc'], musl: ['musl'] }[platform.abi];
  return {
    version,
    cpu: [platform.cpu],
    ...(parent.dev === true && { dev: true }),
    ...(platform.os === 'linux' && libc !== undefined && { libc }),
    optional: true,
    os: [platform.os],
  };
}

const path = `${ROOT}package-lock.json`;
const lock = JSON.parse(readFileSync(path, 'utf8'));
const added = [];
for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const place = `node_modules/${name}`;
    const entry = lock.packages[place] === undefined ? entryFor(name, version, parent) : undefined;
    if (entry === undefined) continue;
    lock.packages[place] = entry;
    added.push(name);
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')),
);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(
  added.length === 0 ? 'the lock is complete' : `entered ${String(added.length)}: ${added.join(', ')}`,
);
