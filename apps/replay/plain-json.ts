/**
 * Reads the JSON of a bundle and nothing looser. A name that stands twice in one object, or a number that a program would
 * round, means one thing to one reader and another to the next, so neither is read at all.
 */
export function parsePlainJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  refuseAmbiguity(text);
  return value;
}

/** One string, number, bracket or comma. The text is JSON already, so what lies between them need not be looked at. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],]/g;

function refuseAmbiguity(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let isName = false;
  for (const [token] of text.matchAll(TOKEN)) {
    const names = open.at(-1);
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined);
      isName = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      isName = false;
    } else if (token === ',') isName = names !== undefined;
    else if (token.startsWith('"')) {
      if (isName && names !== undefined) enter(names, JSON.parse(token) as string);
      isName = false;
    } else if (JSON.stringify(Number(token)) !== token)
      throw new SyntaxError(`${token} is a number that not every program reads alike`);
  }
}

function enter(names: Set<string>, name: string): void {
  if (names.has(name)) throw new SyntaxError(`"${name}" stands twice in one object`);
  names.add(name);
}
