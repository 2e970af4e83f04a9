const SAYS_NOTHING = /(^|-)(common|helpers?|misc|shared|utils?)$/;

function faultOf(segment, isFile) {
  const stem = isFile ? segment.replace(/(?<=.)\..*$/, '') : segment;
  if (SAYS_NOTHING.test(stem)) return `"${stem}" says nothing: name it after what it holds`;
  if (isFile && segment === 'index.ts') return 'no barrels: import the file that has it';
  if (!isFile && segment === 'src') return 'no src folders: files lie directly in their lib or app';
  return undefined;
}

/** Folders and files have names from the domain. */
export function nameFaults(path) {
  const segments = path.split('/');
  return segments.flatMap((segment, at) => {
    const fault = faultOf(segment, at === segments.length - 1);
    return fault === undefined ? [] : [`${path}: ${fault}`];
  });
}
